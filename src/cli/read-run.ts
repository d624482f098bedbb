import { existsSync, statSync } from 'node:fs'

import { LoopchartError } from '../errors.ts'
import type { Frame } from '../frames/generated/frame.ts'
import { parseFrame } from '../frames/parse-frame.ts'
import type { SqliteStore } from '../journal/open-store.ts'
import type { RunOwner } from '../journal/run-store.ts'
import { parseJson } from '../protocol/json.ts'
import { findRunId } from './find-run.ts'
import { repairedFrames } from './imported-log.ts'
import { readNamedFile } from './read-named-file.ts'
import type { Settings } from './settings.ts'
import { nameOf, readStandardInput } from './standard-input.ts'
import { knownStorePath, listingCommand, openKnownStore, type StoreFlags } from './store-option.ts'

const LOG_BYTES_MAX = 1024 * 1024 * 1024

/** A log that was read. */
interface ReadRun {
  readonly frames: readonly Frame[]
  /** Who drives it at the moment; null: nobody, or it is a file. */
  readonly owner: RunOwner | null
}

/** A log: a file of JSON lines where there is one of that name, `-` for standard input, or a stored run. */
export async function readRun(given: string, flags: StoreFlags, settings: Settings): Promise<ReadRun> {
  const read = isLogFile(given)
    ? { frames: framesOf(await readLines(given), given), owner: null }
    : readStored(given, flags, settings)
  // What a command before this one was to write and did not is not a log that is as it should be.
  if (read.frames.length === 0) throw new LoopchartError('log_corrupt', `${nameOf(given)}: the log is empty`)
  return read
}

function readStored(given: string, flags: StoreFlags, settings: Settings): ReadRun {
  const { store, runId } = openStoredRun(given, flags, settings)
  try {
    return { frames: [...store.read(runId)], owner: store.find(runId)?.owner ?? null }
  } finally {
    store.close()
  }
}

/** The store that a run is kept in, and its id. Throws `file_unreadable`, `run_unknown` or `usage`. */
export function openStoredRun(
  given: string,
  flags: StoreFlags,
  settings: Settings,
): { readonly store: SqliteStore; readonly runId: string } {
  const path = knownStorePath(flags, settings)
  if (!existsSync(path)) {
    throw new LoopchartError('file_unreadable', `there is no file ${given}, and there is no store ${path}`)
  }
  const store = openKnownStore(flags, settings)
  try {
    return { store, runId: findRunId(store, given, flags) }
  } catch (error) {
    store.close()
    if (!(error instanceof LoopchartError) || error.code !== 'run_unknown') throw error
    const message = `${JSON.stringify(given)} is neither a file nor a run of ${path}; ${listingCommand(flags)} lists those`
    throw new LoopchartError('run_unknown', message, { cause: error })
  }
}

/** The lines of a log that somebody named. Throws `file_unreadable`. */
export async function readLines(given: string): Promise<readonly string[]> {
  const bytes =
    given === '-' ? await readInput() : await readNamedFile(given, LOG_BYTES_MAX, 'a log of JSON lines')
  const lines = bytes.toString('utf8').split('\n')
  // What follows the last line's end is no line.
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines
}

async function readInput(): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of readStandardInput()) chunks.push(chunk)
  return Buffer.concat(chunks)
}

/** Whether what somebody named is a file of JSON lines, and not a stored run. */
export function isLogFile(given: string): boolean {
  if (given === '-') return true
  // A pipe as `<(command)` makes one is as good as a file.
  const found = statSync(given, { throwIfNoEntry: false })
  return found !== undefined && !found.isDirectory()
}

/** A last line that was cut off while it was written is dropped and said to be, as when a store takes the log in. */
function framesOf(lines: readonly string[], given: string): readonly Frame[] {
  const last = lines.at(-1) ?? ''
  const isTorn = lines.length > 1 && last !== '' && parseJson(last) === undefined
  if (!isTorn) return parseLines(lines, given)
  // First, for what is wrong with a line before it: that is told with the number of the line.
  parseLines(lines.slice(0, -1), given)
  return repairedFrames({ given, lines })
}

function parseLines(lines: readonly string[], given: string): readonly Frame[] {
  return lines.flatMap((line, at) => {
    if (line === '') return []
    try {
      return [parseFrame(line)]
    } catch (error) {
      if (!(error instanceof LoopchartError)) throw error
      throw new LoopchartError(error.code, `${nameOf(given)}, line ${at + 1}: ${error.message}`, {
        cause: error,
      })
    }
  })
}
