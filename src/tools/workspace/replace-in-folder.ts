import { randomBytes } from 'node:crypto'
import { constants, type Stats } from 'node:fs'
import { lstat, open, rename, unlink } from 'node:fs/promises'

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
 * name is replaced, not followed, and other names of the old file (hard links) keep the old content.
 */
export async function replaceInFolder(
  { folder, name, shown }: FolderEntry,
  bytes: Uint8Array,
  { mode }: ReplaceOptions,
): Promise<void> {
  const target = `${folder}/${name}`
  const old = await entryAt(target)
  if (old !== null && !old.isFile() && !old.isSymbolicLink()) throw notRegular(shown)
  const temporary = `${folder}/.loopchart-${randomBytes(12).toString('hex')}.tmp`
  const isNew = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW
  const kept = mode ?? (old?.isFile() === true ? old.mode : null)
  const bits = kept === null ? null : kept & MODE_BITS
  // Never more than it will have: who may not read the file must not read it while it is made.
  const file = await open(temporary, isNew, bits ?? MODE_NEW)
  try {
    try {
      await file.writeFile(bytes)
      if (bits !== null) await file.chmod(bits)
      // Before the rename: after a power cut the name must not lead to a file without its content.
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(temporary, target)
  } catch (error) {
    await unlink(temporary).catch(() => {})
    throw error
  }
}

/** Removes a file, or a link without following it, from a folder that is held open. */
export async function removeFromFolder({ folder, name, shown }: FolderEntry): Promise<void> {
  const target = `${folder}/${name}`
  const old = await lstat(target)
  if (!old.isFile() && !old.isSymbolicLink()) throw notRegular(shown)
  await unlink(target)
}

async function entryAt(path: string): Promise<Stats | null> {
  try {
    return await lstat(path)
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return null
    throw error
  }
}
