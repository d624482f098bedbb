import { existsSync } from 'node:fs'

import { LoopchartError } from '../errors.ts'
import { defaultStorePath } from '../journal/default-store-path.ts'
import { openStore, type SqliteStore } from '../journal/open-store.ts'
import type { Settings } from './settings.ts'
import { shellWord } from './shell-word.ts'

/** What `--store` says: a file, or true for the one that is taken when none is named. */
export interface StoreFlags {
  readonly store?: string | true
}

/** The file to keep a new run in; null when nothing says that it is to be kept. */
export function storePathOf({ store }: StoreFlags, { config, env }: Settings): string | null {
  if (store === '') throw new LoopchartError('usage', '--store: a file must have a name')
  if (store === true) return defaultStorePath(env)
  return store ?? config.store ?? null
}

/** The file that runs are kept in, for verbs about runs that are there already. */
export function knownStorePath(flags: StoreFlags, settings: Settings): string {
  return storePathOf(flags, settings) ?? defaultStorePath(settings.env)
}

/** The command that lists what is in the same store. */
export function listingCommand({ store }: StoreFlags, verb: 'runs' | 'conversations' = 'runs'): string {
  return `loopchart ${verb}${typeof store === 'string' ? ` --store ${shellWord(store)}` : ''}`
}

/** Opens the store that runs are kept in. Throws `file_unreadable` when there is none: one is made only for a new run. */
export function openKnownStore(flags: StoreFlags, settings: Settings): SqliteStore {
  const path = knownStorePath(flags, settings)
  if (existsSync(path)) return openStore(path)
  throw new LoopchartError(
    'file_unreadable',
    `there is no store ${path}; name the file that the run was kept in with --store`,
  )
}
