import type { SqliteStore } from '../journal/open-store.ts'
import { withImported } from './imported-log.ts'
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
  if (isLogFile(given)) return withImported({ given, lines: await readLines(given) }, use)
  const { store, runId } = openStoredRun(given, flags, settings)
  try {
    return await use({ store, runId })
  } finally {
    store.close()
  }
}
