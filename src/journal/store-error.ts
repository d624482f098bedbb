import { timeText } from '../clock.ts'
import { LoopchartError, type ErrorCode } from '../errors.ts'
import type { RunOwner } from './run-store.ts'

/** Somebody else drives the run. */
export class RunLockedError extends LoopchartError {
  override readonly name: string = 'RunLockedError'
  readonly owner: RunOwner

  constructor(runId: string, owner: RunOwner) {
    const since = timeText(owner.since)
    super('run_locked', `run ${runId} is driven by process ${owner.pid} on ${owner.host} since ${since}`)
    this.owner = owner
  }
}

// https://sqlite.org/rescode.html: primary codes are the low byte of an extended one.
const SQLITE_ERROR = 1
const SQLITE_BUSY = 5
const SQLITE_CORRUPT = 11
const SQLITE_FULL = 13
const SQLITE_NOTADB = 26
// The index of the write-ahead log could not grow.
const SQLITE_IOERR_SHMSIZE = 4874

/** What a failed access to a store is called. An error that has a name already keeps it. */
export function storeError(error: unknown, path: string): LoopchartError {
  if (error instanceof LoopchartError) return error
  const { code, told } = explain(error)
  return new LoopchartError(code, `${told}: ${path}`, { cause: error })
}

/** Whether a lock that another connection holds is in the way. */
export function isBusy(error: unknown): boolean {
  return primaryCode(error) === SQLITE_BUSY
}

function explain(error: unknown): { readonly code: ErrorCode; readonly told: string } {
  const said = error instanceof Error ? error.message : String(error)
  const code = codeOf(error)
  switch (primaryCode(error)) {
    case SQLITE_FULL:
      return { code: 'store_full', told: 'no space is left for the store' }
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return { code: 'log_corrupt', told: 'the file is damaged or not a store' }
    // Statements are constant: one that is wrong today was right when the tables were.
    case SQLITE_ERROR:
      return { code: 'log_corrupt', told: `the tables of the store are damaged (${said})` }
    case SQLITE_BUSY:
      return { code: 'store_unusable', told: 'the store is kept busy by another process' }
    default:
  }
  if (code === 'ENOSPC' || code === 'EDQUOT' || extendedCode(error) === SQLITE_IOERR_SHMSIZE) {
    return { code: 'store_full', told: 'no space is left for the store' }
  }
  // A stored number that no number of ours can be.
  if (code === 'ERR_OUT_OF_RANGE') return { code: 'log_corrupt', told: 'the store is damaged' }
  return { code: 'store_unusable', told: `the store cannot be used (${said})` }
}

function primaryCode(error: unknown): number | null {
  const code = extendedCode(error)
  return code === null ? null : code % 256
}

function extendedCode(error: unknown): number | null {
  return error instanceof Error && 'errcode' in error && typeof error.errcode === 'number'
    ? error.errcode
    : null
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
}
