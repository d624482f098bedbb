import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { LoopchartError } from '../errors.ts'
import { openStore, type SqliteStore } from '../journal/open-store.ts'
import { isLogFile, openStoredRun, readLines } from './read-run.ts'
import type { Settings } from './settings.ts'
import type { StoreFlags } from './store-option.ts'

/** A log that is looked at, and the store that has it. */
export interface InspectedLog {
  readonly store: SqliteStore
  readonly runId: string
}

/** Opens a log for as long as it is used. One of a file is taken into a store of its own, which is gone afterwards. */
export async function withInspectedLog<Result>(
  given: string,
  flags: StoreFlags,
  settings: Settings,
  use: (log: InspectedLog) => Promise<Result>,
): Promise<Result> {
  if (isLogFile(given)) return withImported(given, await readLines(given), use)
  const { store, runId } = openStoredRun(given, flags, settings)
  try {
    return await use({ store, runId })
  } finally {
    store.close()
  }
}

async function withImported<Result>(
  given: string,
  lines: readonly string[],
  use: (log: InspectedLog) => Promise<Result>,
): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'loopchart-inspect-'))
  const remove = (): void => rmSync(folder, { recursive: true, force: true })
  // Also when a second signal ends the process.
  process.once('exit', remove)
  const store = openStore(join(folder, 'log.db'))
  try {
    return await use({ store, runId: importLines(store, given, lines) })
  } finally {
    store.close()
    process.off('exit', remove)
    remove()
  }
}

function importLines(store: SqliteStore, given: string, lines: readonly string[]): string {
  try {
    return store.importRun(lines).runId
  } catch (error) {
    if (!(error instanceof LoopchartError)) throw error
    const name = given === '-' ? 'standard input' : given
    throw new LoopchartError(error.code, `${name} is not a log that is whole: ${error.message}`, {
      cause: error,
    })
  }
}
