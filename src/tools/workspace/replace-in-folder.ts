import { randomBytes } from 'node:crypto'
import {
  closeSync,
  constants,
  fchmodSync,
  fsync,
  lstatSync,
  openSync,
  renameSync,
  rmSync,
  statfsSync,
  unlinkSync,
  writeFileSync,
  type Stats,
} from 'node:fs'
import { promisify } from 'node:util'

import { notRegular, systemCodeOf } from './file-fault.ts'

/** A name in a folder that is held open. */
export interface FolderEntry {
  readonly folder: string
  readonly name: string
  /** What the model calls it. */
  readonly shown: string
}

export interface ReplaceOptions {
  /** Who may do what with it, as permission bits. Without it, as with the file that is replaced. */
  readonly mode?: number
  /** Told of each folder on the way that was not there, by its path in the workspace, as soon as it is made. */
  readonly onFolderMade?: (folder: string) => void
}

const MODE_NEW = 0o666
// Without the bits that lend the owner's rights: new content has not earned them.
const MODE_BITS = 0o777

/**
 * Puts a file into a folder that is held open. Readers see the old content or the new, never a part. A link of that
 * name is replaced, not followed, and other names of the old file (hard links) keep the old content. A small
 * file is written at once: a way through the thread pool for each step takes three times as long as the steps.
 */
export async function replaceInFolder(
  { folder, name, shown }: FolderEntry,
  bytes: Uint8Array,
  { mode }: ReplaceOptions,
): Promise<void> {
  const target = `${folder}/${name}`
  const old = entryAt(target)
  if (old !== null && !old.isFile() && !old.isSymbolicLink()) throw notRegular(shown)
  const temporary = `${folder}/.loopchart-${randomBytes(12).toString('hex')}.tmp`
  const isNew = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW
  const kept = mode ?? (old?.isFile() === true ? old.mode : null)
  const bits = kept === null ? null : kept & MODE_BITS
  // Never more than it will have: who may not read the file must not read it while it is made.
  const file = openSync(temporary, isNew, bits ?? MODE_NEW)
  try {
    try {
      writeFileSync(file, bytes)
      if (bits !== null) fchmodSync(file, bits)
      // Before the rename: after a power cut the name must not lead to a file without its content.
      if (old?.isFile() !== true || !isOrdered(folder)) await synced(file)
    } finally {
      closeSync(file)
    }
    renameSync(temporary, target)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
}

const synced = promisify(fsync)

// ext2 to ext4, btrfs, tmpfs, by the numbers of statfs(2).
const ORDERED: ReadonlySet<number> = new Set([0xef53, 0x9123683e, 0x01021994])

/** Whether the file system itself writes the content of a file before a rename that puts it in another one's place. */
function isOrdered(folder: string): boolean {
  return ORDERED.has(statfsSync(folder).type)
}

/** Removes a file, or a link without following it, from a folder that is held open. */
export function removeFromFolder({ folder, name, shown }: FolderEntry): void {
  const target = `${folder}/${name}`
  const old = lstatSync(target)
  if (!old.isFile() && !old.isSymbolicLink()) throw notRegular(shown)
  unlinkSync(target)
}

function entryAt(path: string): Stats | null {
  try {
    return lstatSync(path)
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return null
    throw error
  }
}
