// The statements about runs. All but `findRun` and `listRows` are for within a transaction.
import { LoopchartError } from '../errors.ts'
import type { LargeText } from './block-encoder.ts'
import type { LogPlace } from './read-log.ts'
import type { RunOwner } from './run-store.ts'
import type { RunSummary } from './run-summary.ts'
import type { Segment } from './segments.ts'
import type { StoreFile } from './store-file.ts'
import { numberIn, textIn, type StoreRow } from './store-row.ts'

/** A row of `runs`. */
export interface RunRow extends LogPlace {
  readonly epoch: number
  readonly summary: RunSummary
  readonly holding: Holding | null
}

/** Who holds a run, or did: whether it lives is for its lease to say. */
export interface Holding extends RunOwner {
  /** The name of its lease. */
  readonly holder: string
}

/** What is appended to one log at once. */
export interface Batch {
  readonly id: number
  readonly epoch: number
  /** How many frames the log has before. */
  readonly after: number
  readonly chain: number
  readonly summary: RunSummary
  readonly segments: readonly Segment[]
  readonly texts: readonly LargeText[]
}

export function findRun(file: StoreFile, runId: string): RunRow | null {
  const row = file.get('SELECT * FROM runs WHERE run_id = ?', runId)
  return row === null ? null : parseRow(row)
}

export function listRows(file: StoreFile): readonly RunRow[] {
  return file.all('SELECT * FROM runs ORDER BY id').map(parseRow)
}

export function insertRun(file: StoreFile, runId: string, epoch: number, holding: Holding | null): void {
  file.run(
    `INSERT INTO runs (run_id, epoch, frames, chain, started_at, updated_at, state, status, turn, model, holder, pid, host, since)
     VALUES (?, ?, 0, 0, 0, 0, '', 'open', 0, '', ?, ?, ?, ?)`,
    runId,
    epoch,
    holding?.holder ?? null,
    holding?.pid ?? null,
    holding?.host ?? null,
    holding?.since ?? null,
  )
}

/** Gives a run to an owner, under a new epoch: what an owner before it still writes is refused. */
export function holdRun(file: StoreFile, id: number, epoch: number, by: Holding): void {
  file.run(
    'UPDATE runs SET epoch = ?, holder = ?, pid = ?, host = ?, since = ? WHERE id = ?',
    epoch,
    by.holder,
    by.pid,
    by.host,
    by.since,
    id,
  )
}

export function freeRun(file: StoreFile, id: number, epoch: number): void {
  file.run(
    'UPDATE runs SET holder = NULL, pid = NULL, host = NULL, since = NULL WHERE id = ? AND epoch = ?',
    id,
    epoch,
  )
}

/** Appends to a log. False: the run has another owner by now, and nothing was written. */
export function appendBatch(file: StoreFile, batch: Batch): boolean {
  const { id, epoch, after, chain, summary, segments, texts } = batch
  const fenced = file.run(
    `UPDATE runs SET frames = ?, chain = ?, started_at = ?, updated_at = ?, state = ?, status = ?, turn = ?, model = ?
     WHERE id = ? AND epoch = ? AND frames = ?`,
    summary.frames,
    chain,
    summary.startedAt,
    summary.updatedAt,
    summary.state,
    summary.status,
    summary.turn,
    summary.model,
    id,
    epoch,
    after,
  )
  if (fenced === 0) return false
  for (const { hash, bytes } of texts) {
    file.run('INSERT OR IGNORE INTO texts VALUES (?, ?)', hash, bytes)
    file.run('INSERT OR IGNORE INTO text_uses VALUES (?, ?)', id, hash)
  }
  for (const { firstSeq, lastSeq, epoch, chain, lines } of segments) {
    file.run('INSERT INTO segments VALUES (?, ?, ?, ?, ?, ?)', id, firstSeq, lastSeq, epoch, chain, lines)
  }
  return true
}

export function deleteRun(file: StoreFile, id: number): void {
  file.run('DELETE FROM segments WHERE run = ?', id)
  file.run(
    `DELETE FROM texts WHERE hash IN (SELECT hash FROM text_uses WHERE run = ?)
     AND NOT EXISTS (SELECT 1 FROM text_uses WHERE hash = texts.hash AND run <> ?)`,
    id,
    id,
  )
  file.run('DELETE FROM text_uses WHERE run = ?', id)
  file.run('DELETE FROM runs WHERE id = ?', id)
}

function parseRow(row: StoreRow): RunRow {
  const frames = numberIn(row, 'frames')
  return {
    id: numberIn(row, 'id'),
    runId: textIn(row, 'run_id'),
    epoch: numberIn(row, 'epoch'),
    frames,
    chain: numberIn(row, 'chain'),
    holding: parseHolding(row),
    summary: {
      startedAt: numberIn(row, 'started_at'),
      updatedAt: numberIn(row, 'updated_at'),
      state: textIn(row, 'state'),
      status: parseStatus(textIn(row, 'status')),
      turn: numberIn(row, 'turn'),
      model: textIn(row, 'model'),
      frames,
    },
  }
}

function parseStatus(status: string): RunSummary['status'] {
  if (status === 'open' || status === 'ended') return status
  throw new LoopchartError('log_corrupt', `a run of the store has the status ${JSON.stringify(status)}`)
}

function parseHolding(row: StoreRow): Holding | null {
  if (row['holder'] === null) return null
  return {
    holder: textIn(row, 'holder'),
    pid: numberIn(row, 'pid'),
    host: textIn(row, 'host'),
    since: numberIn(row, 'since'),
  }
}
