import { constants, type Dirent } from 'node:fs'
import { readdir } from 'node:fs/promises'

import { LoopchartError } from '../../errors.ts'
import { byCodePoint } from './by-code-point.ts'
import { systemCodeOf } from './file-fault.ts'
import { holdFolder } from './held-place.ts'

/** One entry of a folder that is walked. */
export interface WalkedEntry {
  /** From the folder where the walk began, with `/` between names. */
  readonly path: string
  readonly name: string
  readonly kind: 'file' | 'folder' | 'link' | 'other'
  /** Leads to the folder that the entry is in; of use until the next entry is asked for. */
  readonly folder: string
}

export interface WalkOptions {
  /** Whether to look into a folder. */
  readonly enters: (folder: WalkedEntry) => boolean
  readonly signal: AbortSignal
}

const DEPTH_MAX = 64
const ENTRIES_MAX = 1_000_000

/**
 * Goes through a folder that is held open: a folder before what is in it, names in the order of their code points,
 * so the same tree gives the same list. No link is followed. What cannot be opened is passed by. At most 64 folders
 * deep; throws `search_failed` after a million entries.
 */
export async function* walkFolder(folder: string, options: WalkOptions): AsyncGenerator<WalkedEntry> {
  yield* walkBelow(folder, '', 1, options, { left: ENTRIES_MAX })
}

async function* walkBelow(
  folder: string,
  prefix: string,
  depth: number,
  options: WalkOptions,
  budget: { left: number },
): AsyncGenerator<WalkedEntry> {
  const entries = await readdir(folder, { withFileTypes: true })
  budget.left -= entries.length
  if (budget.left < 0) {
    throw new LoopchartError(
      'search_failed',
      `there are more than ${ENTRIES_MAX} entries; begin in a deeper folder`,
    )
  }
  for (const entry of entries.sort((a, b) => byCodePoint(a.name, b.name))) {
    options.signal.throwIfAborted()
    const path = prefix + entry.name
    const walked: WalkedEntry = { path, name: entry.name, kind: kindOf(entry), folder }
    yield walked
    if (walked.kind !== 'folder' || depth >= DEPTH_MAX || !options.enters(walked)) continue
    const held = await holdFolder(`${folder}/${entry.name}`, constants.O_NOFOLLOW).catch(passBy)
    if (held === null) continue
    try {
      yield* walkBelow(held.path, `${path}/`, depth + 1, options, budget)
    } catch (error) {
      passBy(error)
    } finally {
      await held.handle.close()
    }
  }
}

function kindOf(entry: Dirent): WalkedEntry['kind'] {
  if (entry.isFile()) return 'file'
  if (entry.isDirectory()) return 'folder'
  return entry.isSymbolicLink() ? 'link' : 'other'
}

// Removed, swapped for something else, or not for us: as if it were empty.
const PASSED_BY: ReadonlySet<string | null> = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES', 'EPERM'])

function passBy(error: unknown): null {
  if (PASSED_BY.has(systemCodeOf(error))) return null
  throw error
}
