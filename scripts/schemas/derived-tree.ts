import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** How the files on disk differ from what they should be; paths from the root of the repository. */
export interface TreeDifference {
  readonly missing: readonly string[]
  readonly stale: readonly string[]
  readonly superfluous: readonly string[]
}

/** Compares the files under `root` with what they should hold; in `folders` there may be nothing else. */
export async function compareTree(
  root: string,
  files: ReadonlyMap<string, string>,
  folders: readonly string[],
): Promise<TreeDifference> {
  const missing: string[] = []
  const stale: string[] = []
  for (const [path, text] of files) {
    const onDisk = await readIfThere(join(root, path))
    if (onDisk === null) missing.push(path)
    else if (onDisk !== text) stale.push(path)
  }
  const found = await Promise.all(folders.map((folder) => listFiles(root, folder)))
  return { missing, stale, superfluous: found.flat().filter((path) => !files.has(path)) }
}

/** Makes the files under `root` what they should be and says what it changed. */
export async function writeTree(
  root: string,
  files: ReadonlyMap<string, string>,
  folders: readonly string[],
): Promise<TreeDifference> {
  const difference = await compareTree(root, files, folders)
  for (const path of [...difference.missing, ...difference.stale]) {
    await replaceFile(join(root, path), files.get(path) ?? '')
  }
  for (const path of difference.superfluous) await rm(join(root, path))
  return difference
}

// By rename, so that a reader (a test that runs at the same time) sees the old file or the new one.
async function replaceFile(path: string, text: string): Promise<void> {
  const temporary = `${path}.${process.pid}.tmp`
  await mkdir(dirname(path), { recursive: true })
  await writeFile(temporary, text)
  await rename(temporary, path)
}

async function listFiles(root: string, folder: string): Promise<readonly string[]> {
  try {
    const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true })
    return entries
      .filter((entry) => !entry.isDirectory())
      .map((entry) => join(entry.parentPath, entry.name).slice(join(root, '/').length))
      .toSorted()
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}

async function readIfThere(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}
