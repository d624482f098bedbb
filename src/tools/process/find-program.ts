import { accessSync, constants, realpathSync, statSync } from 'node:fs'
import { delimiter, isAbsolute, join, resolve, sep } from 'node:path'

const SYSTEM_FOLDERS: readonly string[] = ['/usr/bin', '/bin', '/usr/local/bin']

/**
 * The absolute path of a program that we rely on ourselves; null when there is none. The folders of the system come
 * first, and what npm puts into PATH does not count, nor what lies in the workspace or leads there: somebody's project
 * must not become our sandbox.
 */
export function findProgram(name: string, workspaceRoot: string | null = null): string | null {
  const inSystem = SYSTEM_FOLDERS.map((folder) => join(folder, name))
  const elsewhere = searchFolders(process.env['PATH'] ?? '', workspaceRoot)
    .filter((folder) => !folder.split(sep).includes('node_modules'))
    .map((folder) => join(folder, name))
    .filter((path) => workspaceRoot === null || !leadsInto(workspaceRoot, path))
  return [...inSystem, ...elsewhere].find((path) => isProgram(path)) ?? null
}

/**
 * The folders of a PATH that a command may search: absolute ones outside the workspace. An empty or relative one would
 * be the workspace, and an approved `git` would then be whatever file of that name it holds.
 */
export function searchFolders(path: string, workspaceRoot: string | null = null): readonly string[] {
  const folders = path.split(delimiter).filter((folder) => isAbsolute(folder))
  return folders.filter((folder) => workspaceRoot === null || !leadsInto(workspaceRoot, folder))
}

/** Whether the system would find a program of that name to start, as it looks for one. */
export function lookUpProgram(
  name: string,
  path: string,
  cwd: string,
): 'found' | 'not_found' | 'not_runnable' {
  const places = name.includes(sep)
    ? [resolve(cwd, name)]
    : path.split(delimiter).map((folder) => resolve(cwd, folder, name))
  if (places.some((place) => isProgram(place))) return 'found'
  const isThere = places.some((place) => statSync(place, { throwIfNoEntry: false }) !== undefined)
  return isThere ? 'not_runnable' : 'not_found'
}

/** Whether an absolute path is a folder or lies inside it, by its letters. */
export function isWithin(folder: string, path: string): boolean {
  const base = folder.endsWith(sep) ? folder : folder + sep
  return path === folder || path.startsWith(base)
}

function leadsInto(folder: string, path: string): boolean {
  return isWithin(folder, path) || isWithin(folder, realPathOf(path))
}

function realPathOf(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
