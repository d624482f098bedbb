import type { Clock } from '../clock.ts'
import type { Frame } from '../frames/generated/frame.ts'
import type { FrameCursor } from './frame-cursor.ts'
import type { FrameLog } from './frame-log.ts'
import type { Journal } from './journal.ts'

/** A journal with the log that readers follow. */
export interface RunJournal extends Journal {
  readonly log: FrameLog
}

/** How the log of a run is kept while this process owns it. */
export interface LogOptions {
  /** About how many of the latest frames stay in memory; all of them when left out. Those before are read from the store. */
  readonly recent?: number
}

/** A run that was taken up: this process owns it until its journal is closed. */
export interface TakenRun {
  readonly journal: RunJournal
  /** What its log has, from the first frame on. */
  readonly frames: readonly Frame[]
}

/** What a list says of each log that a store has. */
export interface StoredRun {
  /** Of the run, or of the conversation. */
  readonly runId: string
  readonly kind: 'run' | 'conversation'
  /** Milliseconds of the wall clock. */
  readonly startedAt: number
  readonly updatedAt: number
  /** The latest state as a dotted path; `conversation` for one. */
  readonly state: string
  readonly status: 'ended' | 'open'
  /** Of a conversation: how many messages the user has sent. */
  readonly turn: number
  readonly model: string
  readonly frames: number
  /** Who drives it at the moment; null: nobody. */
  readonly owner: RunOwner | null
}

/** The process that drives a run. */
export interface RunOwner {
  readonly pid: number
  readonly host: string
  /** Milliseconds of the wall clock. */
  readonly since: number
}

/** Where runs and conversations are kept. One process owns one at a time; any may read it. */
export interface RunStore {
  /** Begins the log of a new run. Throws `run_exists`; what cannot be written to throws `store_unusable`. */
  create(runId: string, clock: Clock, options?: LogOptions): RunJournal
  /** Takes a run up. Throws `run_unknown`, `run_locked` with who owns it, `log_corrupt`. */
  take(runId: string, clock: Clock, options?: LogOptions): TakenRun
  /** Reads a log without owning the run. Throws `run_unknown`, `log_corrupt`. */
  read(runId: string): Iterable<Frame>
  /**
   * A place in a log, without owning the run; it follows what another process appends. The clock says when that is looked
   * for. Throws `run_unknown`; its `take` throws that and `log_corrupt`.
   */
  cursor(runId: string, from: number, clock?: Clock): FrameCursor
  list(): readonly StoredRun[]
  /** What a list says of one log; null: the store has none of that id. */
  find(runId: string): StoredRun | null
  close(): void
}
