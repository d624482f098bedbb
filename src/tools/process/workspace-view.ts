import type { Dirent } from 'node:fs'
import { lstat, readdir, realpath } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'

import { classifyPath } from '../workspace/classify-path.ts'
import { isWithin } from './find-program.ts'

/** What a sandboxed command may not do with parts of the workspace. Absolute paths, none of them a link. */
export interface WorkspaceView {
  /** Files that it may not read. */
  readonly coveredFiles: readonly string[]
  /** Folders that it finds empty. */
  readonly coveredFolders: readonly string[]
  /** Folders that it may write into, but neither move nor replace. */
  readonly pinned: readonly string[]
  readonly readOnly: readonly string[]
  /** False when there was more to look at than is looked at, or folders lay deeper. */
  readonly isComplete: boolean
}

const DEPTH_MAX = 8
const ENTRIES_MAX = 20_000
// bwrap takes 9,000 arguments, three for each of these.
const PLACES_MAX = 1000

const UNSEARCHED: ReadonlySet<string> = new Set(['node_modules', '.git'])

type Part = Exclude<keyof WorkspaceView, 'isComplete'>

/**
 * Looks for secret and protected files: eight folders deep and 20,000 entries wide, not into node_modules. A link is
 * followed only to something inside the workspace; where else it leads, the sandbox is read-only anyway.
 */
export async function viewWorkspace(root: string): Promise<WorkspaceView> {
  const places: Record<Part, Set<string>> = {
    coveredFiles: new Set(),
    coveredFolders: new Set(),
    pinned: new Set(),
    readOnly: new Set(),
  }
  let isComplete = true
  let entriesLeft = ENTRIES_MAX
  let folders: readonly string[] = [root]
  for (let depth = 1; depth <= DEPTH_MAX && folders.length > 0; depth += 1) {
    const next: string[] = []
    for (const folder of folders) {
      const entries = await entriesIn(folder)
      if (entries.length > entriesLeft) isComplete = false
      for (const entry of entries.slice(0, entriesLeft)) {
        for (const [part, path] of await judge(root, entry)) places[part].add(path)
        if (entry.isDirectory() && !UNSEARCHED.has(entry.name)) next.push(join(folder, entry.name))
      }
      entriesLeft = Math.max(0, entriesLeft - entries.length)
    }
    folders = next
  }
  const isAllSearched = isComplete && folders.length === 0
  return { ...within(places), isComplete: isAllSearched && sizeOf(places) <= PLACES_MAX }
}

type Places = readonly (readonly [Part, string])[]

async function judge(root: string, entry: Dirent): Promise<Places> {
  const path = join(entry.parentPath, entry.name)
  const names = relative(root, path).split(sep)
  // For reading, so that of what is both the secret counts: what may not be read may not be written either.
  // A folder by what is in it: id_generator is no private key, though a file of that name may be one.
  const kind = classifyPath(entry.isDirectory() ? [...names, 'x'] : names, 'read')
  // What holds for a folder holds for all in it.
  if (kind === 'plain' || kind === classifyPath([...names.slice(0, -1), 'x'], 'read')) return []
  const real = await realPlace(root, path)
  if (real === null) return []
  if (entry.name === '.git') return gitPlaces(real)
  if (kind === 'protected') return [['readOnly', real.path]]
  return [[real.isFolder ? 'coveredFolders' : 'coveredFiles', real.path]]
}

interface RealPlace {
  readonly path: string
  readonly isFolder: boolean
}

/** Where a name leads: null when that is outside, gone, the root itself, or no file and no folder. */
async function realPlace(root: string, path: string): Promise<RealPlace | null> {
  try {
    const real = await realpath(path)
    const stat = await lstat(real)
    const isInside = real !== root && isWithin(root, real)
    if (!isInside || !(stat.isFile() || stat.isDirectory())) return null
    return { path: real, isFolder: stat.isDirectory() }
  } catch {
    return null
  }
}

/**
 * Of a repository, hooks and config are read-only: they decide what git runs later, outside. The folder is pinned, for
 * otherwise it could be moved away and another one put in its place.
 */
async function gitPlaces({ path, isFolder }: RealPlace): Promise<Places> {
  // In a worktree it is a file that says where the repository is.
  if (!isFolder) return [['readOnly', path]]
  const parts = [join(path, 'config'), join(path, 'hooks')]
  const kinds = await Promise.all(parts.map((part) => lstat(part).catch(() => null)))
  const [config, hooks] = kinds
  return [
    ['pinned', path],
    ...(config?.isFile() === true ? [['readOnly', join(path, 'config')] as const] : []),
    ...(hooks?.isDirectory() === true ? [['readOnly', join(path, 'hooks')] as const] : []),
    // Covering what is not there makes an empty folder, as `git init` does, so that nobody else can make one.
    ...(hooks === null ? [['coveredFolders', join(path, 'hooks')] as const] : []),
  ]
}

async function entriesIn(folder: string): Promise<readonly Dirent[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true })
    // A name that is not UTF-8 cannot be passed on: what U+FFFD stands for is lost.
    const passable = entries.filter(({ name }) => !name.includes('\uFFFD'))
    return passable.sort((a, b) => (a.name < b.name ? -1 : 1))
  } catch {
    return []
  }
}

function sizeOf(places: Readonly<Record<Part, ReadonlySet<string>>>): number {
  return Object.values(places).reduce((sum, set) => sum + set.size, 0)
}

function within(places: Readonly<Record<Part, ReadonlySet<string>>>): Record<Part, readonly string[]> {
  let left = PLACES_MAX
  const some = (part: Part): readonly string[] => {
    const paths = [...places[part]].slice(0, left)
    left -= paths.length
    return paths
  }
  return {
    pinned: some('pinned'),
    readOnly: some('readOnly'),
    coveredFiles: some('coveredFiles'),
    coveredFolders: some('coveredFolders'),
  }
}
