// The log of every run in one file, over node:sqlite. A run has one owner at a time and any number of readers, in any
// number of processes.
import { hostname } from 'node:os'
import { resolve } from 'node:path'

import { systemClock, type Clock } from '../clock.ts'
import { LoopchartError } from '../errors.ts'
import { formatFrame } from '../frames/format-frame.ts'
import type { Frame } from '../frames/generated/frame.ts'
import type { FrameCursor } from './frame-cursor.ts'
import { FrameLog } from './frame-log.ts'
import { GroupCommit } from './group-commit.ts'
import { importLog, type ImportedRun } from './import-log.ts'
import { holdLease, isLeaseHeld, sweepLeases, type Lease } from './lease.ts'
import { readLog } from './read-log.ts'
import { deleteRun, findRun, freeRun, holdRun, insertRun, listRows } from './run-rows.ts'
import type { Holding, RunRow } from './run-rows.ts'
import type { LogOptions, RunJournal, RunOwner, RunStore, StoredRun, TakenRun } from './run-store.ts'
import { kindOf, NO_FRAMES } from './run-summary.ts'
import { EMPTY_LOG, type LogEnd } from './segments.ts'
import { RunLockedError } from './store-error.ts'
import { StoreFile, type AroundWrite } from './store-file.ts'
import { StoredCursor } from './stored-cursor.ts'
import { StoredJournal } from './stored-journal.ts'

export interface OpenStoreOptions {
  /** Stands around each statement that writes; for tests of what happens when one fails. */
  readonly aroundWrite?: AroundWrite
}

export interface PruneOptions {
  /** How long ago the last frame of a run must be. */
  readonly olderThanMs: number
  /** Leaves runs that ended `failed`. */
  readonly keepFailed: boolean
  /** Milliseconds of the wall clock; now, when left out. */
  readonly nowMs?: number
}

/** A store in a file. */
export interface SqliteStore extends RunStore {
  readonly path: string
  /** Removes old runs and gives their ids. A run that somebody drives is never removed. */
  prune(options: PruneOptions): readonly string[]
  /** A log as lines of JSON, as `run --json` prints them. Throws as `read` does. */
  exportRun(runId: string): Iterable<string>
  /** Takes a log in, whole or not at all. Throws `run_exists`, `log_corrupt`, and the errors of `parseFrame`. */
  importRun(lines: Iterable<string>): ImportedRun
}

/**
 * Opens a store, and makes it where there is none. Throws before anything is touched: `log_version` for a file that a
 * later release made or that is no store, `store_unusable`, `store_full`, `log_corrupt`.
 */
export function openStore(path: string, { aroundWrite }: OpenStoreOptions = {}): SqliteStore {
  return new FileStore(resolve(path), aroundWrite ?? ((_, execute) => execute()))
}

class FileStore implements SqliteStore {
  readonly path: string
  readonly #file: StoreFile
  readonly #group: GroupCommit
  /** The runs that this store owns. A map goes on to hold what was taken out of it for a while: that is not to be a run. */
  readonly #journals = new Map<string, { journal: StoredJournal | null }>()
  #lease: Lease | null = null

  constructor(path: string, aroundWrite: AroundWrite) {
    this.path = path
    this.#file = new StoreFile(path, aroundWrite)
    this.#group = new GroupCommit(this.#file)
  }

  create(runId: string, clock: Clock, options: LogOptions = {}): RunJournal {
    const holding = this.#holding(clock)
    const made = this.#file.transaction('soon', () => {
      const row = findRun(this.#file, runId)
      if (row !== null && !this.#isAbandoned(row)) return null
      // Of a process that died before its first frame: a new log, but not a new epoch.
      if (row !== null) deleteRun(this.#file, row.id)
      insertRun(this.#file, runId, (row?.epoch ?? 0) + 1, holding)
      return findRun(this.#file, runId)
    })
    if (made === null)
      throw new LoopchartError('run_exists', `the store has a run ${runId} already: ${this.path}`)
    return this.#journal(made, EMPTY_LOG, clock, options)
  }

  take(runId: string, clock: Clock, options: LogOptions = {}): TakenRun {
    const holding = this.#holding(clock)
    const taken = this.#file.transaction('soon', (): RunRow | RunOwner | null => {
      const row = findRun(this.#file, runId)
      if (row === null || this.#isAbandoned(row)) return null
      const owner = this.#ownerOf(row)
      if (owner !== null) return owner
      holdRun(this.#file, row.id, row.epoch + 1, holding)
      return { ...row, epoch: row.epoch + 1 }
    })
    if (taken === null) throw this.#unknown(runId)
    if (!('epoch' in taken)) throw new RunLockedError(runId, taken)
    try {
      const frames = [...readLog(this.#file, taken)]
      const journal = this.#journal(taken, endOf(taken, frames), clock, options)
      journal.log.append(frames)
      return { journal, frames }
    } catch (error) {
      this.#release(taken)
      throw error
    }
  }

  *read(runId: string): Generator<Frame> {
    yield* readLog(this.#file, this.#find(runId))
  }

  cursor(runId: string, from: number, clock: Clock = systemClock): FrameCursor {
    return new StoredCursor(this.#file, this.#find(runId), from, clock)
  }

  list(): readonly StoredRun[] {
    const rows = listRows(this.#file).filter(({ frames }) => frames > 0)
    return rows.map((row) => this.#storedRun(row))
  }

  find(runId: string): StoredRun | null {
    const row = findRun(this.#file, runId)
    return row === null || row.frames === 0 ? null : this.#storedRun(row)
  }

  prune({ olderThanMs, keepFailed, nowMs = Date.now() }: PruneOptions): readonly string[] {
    const removed = this.#file.transaction('soon', () => {
      const old = listRows(this.#file).filter(
        (row) =>
          row.summary.updatedAt < nowMs - olderThanMs &&
          !(keepFailed && row.summary.state === 'failed') &&
          this.#ownerOf(row) === null,
      )
      for (const { id } of old) deleteRun(this.#file, id)
      return old.filter(({ frames }) => frames > 0).map(({ runId }) => runId)
    })
    this.#file.shrink()
    sweepLeases(this.#leases)
    return removed
  }

  *exportRun(runId: string): Generator<string> {
    for (const frame of this.read(runId)) yield formatFrame(frame)
  }

  importRun(lines: Iterable<string>): ImportedRun {
    return importLog(this.#file, lines)
  }

  close(): void {
    this.#group.close()
    // Who drives a run is told: what it waits for will not come any more.
    const closed = new LoopchartError('store_unusable', `the store was closed under a run: ${this.path}`)
    for (const { journal } of this.#journals.values()) {
      journal?.failed(closed)
      void journal?.close().catch(() => undefined)
    }
    this.#file.close()
    this.#lease?.release()
    this.#lease = null
  }

  #storedRun(row: RunRow): StoredRun {
    const { runId, summary } = row
    return { runId, kind: kindOf(summary), ...summary, owner: this.#ownerOf(row) }
  }

  #find(runId: string): RunRow {
    const row = findRun(this.#file, runId)
    if (row === null || row.frames === 0) throw this.#unknown(runId)
    return row
  }

  #unknown(runId: string): LoopchartError {
    return new LoopchartError('run_unknown', `the store has no run ${runId}: ${this.path}`)
  }

  #journal(row: RunRow, end: LogEnd, clock: Clock, { recent }: LogOptions): StoredJournal {
    const { runId, id, epoch } = row
    const older = (from: number): StoredCursor => {
      const found = this.#find(runId)
      // It has ended, was removed, and another was begun under its id.
      if (found.id !== id) throw this.#unknown(runId)
      return new StoredCursor(this.#file, found, from, clock)
    }
    const journal = new StoredJournal(clock, {
      runId,
      id,
      epoch,
      end,
      summary: end.frames === 0 ? NO_FRAMES : row.summary,
      log: new FrameLog(recent === undefined ? null : { recent, older }),
      group: this.#group,
      explainRefusal: () => this.#refusal(row),
      release: () => this.#release(row),
    })
    this.#journals.set(runId, { journal })
    return journal
  }

  #holding(clock: Clock): Holding {
    this.#lease ??= holdLease(this.#leases)
    return { holder: this.#lease.name, pid: process.pid, host: hostname(), since: Math.floor(clock.now()) }
  }

  get #leases(): string {
    return `${this.path}-leases`
  }

  #ownerOf({ runId, holding }: RunRow): RunOwner | null {
    if (holding === null) return null
    const { holder, pid, host, since } = holding
    const isHeld =
      holder === this.#lease?.name ? this.#journals.has(runId) : isLeaseHeld(this.#leases, holder)
    return isHeld ? { pid, host, since } : null
  }

  /** A run that got no frame is none once its owner is gone. */
  #isAbandoned(row: RunRow): boolean {
    return row.frames === 0 && this.#ownerOf(row) === null
  }

  #release({ runId, id, epoch }: RunRow): void {
    const owned = this.#journals.get(runId)
    if (owned !== undefined) owned.journal = null
    this.#journals.delete(runId)
    try {
      this.#file.transaction('soon', () => freeRun(this.#file, id, epoch))
    } catch {
      // The row goes on naming a lease of a store that does not own the run any more, which makes it free as well.
    }
  }

  #refusal({ runId, epoch, id }: RunRow): Error {
    const row = findRun(this.#file, runId)
    if (row?.id === id && row.epoch === epoch) {
      return new LoopchartError(
        'log_corrupt',
        `run ${runId}: the log lost frames that were written: ${this.path}`,
      )
    }
    if (row?.holding != null) return new RunLockedError(runId, row.holding)
    return new LoopchartError('run_locked', `run ${runId} was taken up by another process: ${this.path}`)
  }
}

function endOf({ frames: count, chain }: RunRow, frames: readonly Frame[]): LogEnd {
  const sent = frames.findLast((frame) => frame.type === 'request_sent')
  return { frames: count, chain, body: sent?.body ?? '' }
}
