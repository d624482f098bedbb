import { constants } from 'node:fs'
import { access, realpath, stat } from 'node:fs/promises'
import { delimiter, isAbsolute, join, sep } from 'node:path'

import { isWithin } from '../process/find-program.ts'

const NAMES: readonly string[] = process.platform === 'win32' ? ['rg.exe'] : ['rg']

let candidates: Promise<readonly string[]> | null = null

/**
 * The ripgrep that PATH leads to, or null. PATH is looked at once in the life of the process. One that lies in the
 * workspace does not count: a repository must not choose what program searches it.
 */
export async function findRipgrep(workspaceRoot: string): Promise<string | null> {
  candidates ??= findCandidates()
  return (await candidates).find((path) => !isWithin(workspaceRoot, path)) ?? null
}

async function findCandidates(): Promise<readonly string[]> {
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter(isTrusted)
  const paths = folders.flatMap((folder) => NAMES.map((name) => join(folder, name)))
  const found = await Promise.all(paths.map((path) => programAt(path)))
  return found.filter((path) => path !== null)
}

// What npm puts into PATH does not count: a link there can lead out of the workspace that chose it.
function isTrusted(folder: string): boolean {
  return isAbsolute(folder) && !folder.split(sep).includes('node_modules')
}

async function programAt(path: string): Promise<string | null> {
  try {
    const real = await realpath(path)
    await access(real, constants.X_OK)
    return (await stat(real)).isFile() ? real : null
  } catch {
    return null
  }
}
