import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { LoopchartError } from '../errors.ts'
import type { Frame } from '../frames/generated/frame.ts'
import { parseLog, type ImportedRun } from '../journal/import-log.ts'
import { openStore, type SqliteStore } from '../journal/open-store.ts'
import { countOf } from './run-figures.ts'
import { oneLine } from './safe-text.ts'
import { nameOf } from './standard-input.ts'

/** A log of JSON lines that somebody named. */
export interface NamedLog {
  /** A path, or `-` for standard input. */
  readonly given: string
  readonly lines: readonly string[]
}

/** Takes a log into a store of its own, which is gone after its use. Says so when its last line was cut off. */
export async function withImported<Result>(
  log: NamedLog,
  use: (imported: { readonly store: SqliteStore; readonly runId: string }) => Result | Promise<Result>,
): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'loopchart-log-'))
  const remove = (): void => rmSync(folder, { recursive: true, force: true })
  // Also when a second signal ends the process.
  process.once('exit', remove)
  const store = openStore(join(folder, 'log.db'))
  try {
    const imported = importLines(store, log)
    tellTorn(log, imported)
    return await use({ store, runId: imported.runId })
  } finally {
    store.close()
    process.off('exit', remove)
    remove()
  }
}

/** Takes a log into a store, whole or not at all. Throws what `importRun` throws, with the name of the log. */
export function importLines(store: SqliteStore, log: NamedLog): ImportedRun {
  return named(log, () => store.importRun(log.lines))
}

/** The frames of a log as they would be taken in. Says so when its last line was cut off. */
export function repairedFrames(log: NamedLog): readonly Frame[] {
  const parsed = named(log, () => parseLog(log.lines))
  tellTorn(log, parsed)
  return parsed.frames
}

function named<Read>({ given }: NamedLog, read: () => Read): Read {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof LoopchartError) || isOfStore(error)) throw error
    // A line that is no frame is called so by every verb that reads a log.
    const { cause } = error
    const { code, told } =
      cause instanceof LoopchartError
        ? { code: cause.code, told: `${error.message} (${cause.message})` }
        : { code: error.code, told: error.message }
    throw new LoopchartError(code, `${nameOf(given)} is not a log that is whole: ${told}`, { cause: error })
  }
}

// What a store says of itself has the error of SQLite underneath.
function isOfStore({ code, cause }: LoopchartError): boolean {
  return code === 'run_exists' || (cause instanceof Error && !(cause instanceof LoopchartError))
}

function tellTorn({ given }: NamedLog, parsed: Pick<ImportedRun, 'bytesDropped'>): void {
  const torn = tornIn(parsed)
  if (torn !== null) process.stderr.write(`loopchart: ${oneLine(nameOf(given))}: ${torn}\n`)
}

/** What is to be said of a log whose last line was cut off; null: it was not. */
export function tornIn({ bytesDropped }: Pick<ImportedRun, 'bytesDropped'>): string | null {
  return bytesDropped > 0 ? `the last line was cut off, ${countOf(bytesDropped, 'byte')} were dropped` : null
}
