import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readlinkSync,
  readSync,
  type BigIntStats,
} from 'node:fs'
import { mkdir, realpath, rmdir, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'

import { LoopchartError } from '../../errors.ts'
import { classifyPath, isKindRaised, type PathAccess, type PathKind } from './classify-path.ts'
import { fileFault, notRegular, systemCodeOf } from './file-fault.ts'
import {
  descriptorPath,
  holdFolder,
  holdPlace,
  letGo,
  namesInside,
  readHeld,
  type HeldPlace,
} from './held-place.ts'
import { removeFromFolder, replaceInFolder, type ReplaceOptions } from './replace-in-folder.ts'
import { parseWorkspacePath, type WorkspacePath } from './workspace-path.ts'

/** A file as it was at one moment. */
export interface FileContent {
  readonly bytes: Buffer
  readonly mode: number
}

/** What is known of an open file. */
export interface FileFacts {
  readonly size: number
  readonly mode: number
}

/** Opens a folder to work in. Throws `usage` when there is no such folder. */
export async function openWorkspace(path: string): Promise<Workspace> {
  try {
    const root = await realpath(path)
    return new Workspace(root, openSync(root, constants.O_RDONLY | (constants.O_DIRECTORY ?? 0)))
  } catch (cause) {
    throw new LoopchartError('usage', `there is no folder ${path} to work in`, { cause })
  }
}

const roots = new FinalizationRegistry<number>((descriptor) => closeSync(descriptor))

/**
 * The folder that tools work in, and the only way they touch files. Every operation opens first and looks then
 * where that led, so a link that is swapped in between changes nothing. The root is held open as long as the
 * object lives: a folder that takes its place later cannot be mistaken for it.
 */
export class Workspace {
  /** The real absolute path. */
  readonly root: string
  readonly #base: string
  readonly #isHeldByPath: boolean
  readonly #dev: bigint
  readonly #ino: bigint

  constructor(root: string, descriptor: number) {
    this.root = root
    const own = descriptorPath(descriptor)
    this.#base = own ?? root
    this.#isHeldByPath = own !== null
    const { dev, ino } = fstatSync(descriptor, { bigint: true })
    this.#dev = dev
    this.#ino = ino
    roots.register(this, descriptor)
  }

  /** Reads a path as a model gives it, by its letters only. Throws `path_outside_workspace`. */
  parse(path: string, access: PathAccess = 'read'): WorkspacePath {
    return parseWorkspacePath(path, access)
  }

  /** Throws `workspace_missing` when the root is gone, was moved, or is another folder now. */
  assertThere(): void {
    const found = entryAt(this.root)
    const place = this.#isHeldByPath ? readlinkSync(this.#base) : this.root
    if (found?.dev === this.#dev && found.ino === this.#ino && place === this.root) return
    throw new LoopchartError(
      'workspace_missing',
      'the workspace folder is gone or another one has taken its place',
    )
  }

  /**
   * Where a path leads now, in the form of a path of this workspace, also when its end is not there yet. A write
   * replaces a link and does not follow it, so the last name stays then. Null when it leads out or cannot be followed.
   */
  async realPathOf({ names }: WorkspacePath, access: PathAccess): Promise<string | null> {
    const followed = access === 'write' ? names.slice(0, -1) : names
    for (let length = followed.length; length >= 0; length -= 1) {
      const place = await realpath(join(this.root, ...followed.slice(0, length))).catch(missing)
      if (place === undefined) continue
      const real = place === null ? null : namesInside(this.root, place)
      return real === null ? null : [...real, ...names.slice(length)].join('/') || '.'
    }
    return null
  }

  /** Reads a regular file. Throws `file_too_large` when it has more than `bytesMax` bytes. */
  readFile(path: WorkspacePath, bytesMax: number): Promise<FileContent> {
    return this.withFile(path, async (file, { size, mode }) => {
      const bytes = size > bytesMax ? null : await readUpTo(file, size, bytesMax)
      if (bytes !== null) return { bytes, mode }
      throw new LoopchartError('file_too_large', `${path.path} has more than ${bytesMax} bytes`)
    })
  }

  /** The same; null when there is nothing at that path. */
  async readIfThere(path: WorkspacePath, bytesMax: number): Promise<FileContent | null> {
    try {
      return await this.readFile(path, bytesMax)
    } catch (error) {
      if (error instanceof LoopchartError && error.code === 'path_not_found') return null
      throw error
    }
  }

  /** Gives a regular file, open for reading, for as long as `use` takes. */
  withFile<T>(path: WorkspacePath, use: (file: FileHandle, facts: FileFacts) => Promise<T>): Promise<T> {
    return this.#guarded(path, 'read', async () => {
      const held = await holdPlace(this.#to(path.names))
      return closing(held, async () => {
        this.#verify(held, [], path, 'read')
        const facts = fstatSync(held.handle.fd)
        if (!facts.isFile()) throw notRegular(path.path)
        return readHeld(held, (file) => use(file, { size: facts.size, mode: facts.mode & 0o777 }))
      })
    })
  }

  /**
   * Creates a file or replaces it as a whole, and makes the folders on the way. Readers see the old content or the
   * new. A link is replaced, not followed. The mode of the old file stays.
   */
  replaceFile(path: WorkspacePath, bytes: Uint8Array, options: ReplaceOptions = {}): Promise<void> {
    return this.#guarded(path, 'write', async () => {
      const name = lastOf(path)
      const held = await this.#holdParent(path, options.onFolderMade ?? ((): void => undefined))
      await closing(held, () =>
        replaceInFolder({ folder: held.path, name, shown: path.path }, bytes, options),
      )
    })
  }

  /** Removes a regular file, or a link without following it. */
  removeFile(path: WorkspacePath): Promise<void> {
    return this.#guarded(path, 'write', async () => {
      const name = lastOf(path)
      const held = await holdFolder(this.#to(path.names.slice(0, -1)))
      await closing(held, async () => {
        this.#verify(held, [name], path, 'write')
        removeFromFolder({ folder: held.path, name, shown: path.path })
      })
    })
  }

  /** Removes a folder with nothing in it. A link to one stays, and so does one that is not empty. */
  removeEmptyFolder(path: WorkspacePath): Promise<void> {
    return this.#guarded(path, 'write', async () => {
      const name = lastOf(path)
      const held = await holdFolder(this.#to(path.names.slice(0, -1)))
      await closing(held, async () => {
        this.#verify(held, [name], path, 'write')
        await rmdir(`${held.path}/${name}`)
      })
    })
  }

  /**
   * Gives a folder for as long as `use` takes, as a path that leads to this very folder whatever happens to its
   * names, also in other processes. What `use` does below it must not follow links.
   */
  withFolder<T>(path: WorkspacePath, use: (folder: string) => Promise<T>): Promise<T> {
    return this.#guarded(path, 'read', async () => {
      const held = await holdFolder(this.#to(path.names))
      return closing(held, () => {
        this.#verify(held, [], path, 'read')
        return use(held.path)
      })
    })
  }

  async #guarded<T>(path: WorkspacePath, access: PathAccess, work: () => Promise<T>): Promise<T> {
    this.assertThere()
    try {
      return await work()
    } catch (error) {
      throw fileFault(error, path.path, access)
    }
  }

  #to(names: readonly string[]): string {
    return [this.#base, ...names].join('/')
  }

  async #holdParent(path: WorkspacePath, onMade: (folder: string) => void): Promise<HeldPlace> {
    const folders = path.names.slice(0, -1)
    try {
      const held = await holdFolder(this.#to(folders))
      return await this.#verified(held, path.names.slice(-1), path)
    } catch (error) {
      if (systemCodeOf(error) !== 'ENOENT') throw error
    }
    return this.#makeFolders(path, onMade)
  }

  // Name by name, each in a folder that is held and verified: a link that appears on the way is seen before
  // anything is made behind it.
  async #makeFolders(path: WorkspacePath, onMade: (folder: string) => void): Promise<HeldPlace> {
    let held = await this.#verified(await holdFolder(`${this.#base}/.`), path.names, path)
    for (const [index, name] of path.names.slice(0, -1).entries()) {
      held = await closing(held, async () => {
        if (await makeFolder(`${held.path}/${name}`)) onMade(path.names.slice(0, index + 1).join('/'))
        const next = await holdFolder(`${held.path}/${name}`)
        return this.#verified(next, path.names.slice(index + 1), path)
      })
    }
    return held
  }

  async #verified(held: HeldPlace, rest: readonly string[], path: WorkspacePath): Promise<HeldPlace> {
    try {
      this.#verify(held, rest, path, 'write')
      return held
    } catch (error) {
      await held.handle.close()
      throw error
    }
  }

  #verify(held: HeldPlace, rest: readonly string[], path: WorkspacePath, access: PathAccess): void {
    const names = namesInside(this.root, held.place)
    if (names === null) {
      throw new LoopchartError(
        'path_outside_workspace',
        `${path.path} leads out of the workspace through a link`,
      )
    }
    for (const kind of kindsOf(names, rest, access)) {
      if (!isKindRaised(kindGiven(path, access), kind, access)) continue
      const message = `${path.path} leads to a ${kind} file through a link; ask for that file by its real name`
      throw new LoopchartError('path_refused', message)
    }
  }
}

/**
 * What a path was judged to be for this access. One that was judged for writing may be read as well: `.npmrc` is
 * protected to write and secret to read, and its own name says both.
 */
function kindGiven({ kind, names }: WorkspacePath, access: PathAccess): PathKind {
  return access === 'write' || kind === 'plain' ? kind : classifyPath(names, access)
}

// Linux writes this behind the path of what has been removed while it was open, and a name can end so as well.
const REMOVED = ' (deleted)'

function kindsOf(names: readonly string[], rest: readonly string[], access: PathAccess): readonly PathKind[] {
  const kinds = [classifyPath([...names, ...rest], access)]
  const last = names.at(-1)
  if (last?.endsWith(REMOVED) === true) {
    kinds.push(classifyPath([...names.slice(0, -1), last.slice(0, -REMOVED.length), ...rest], access))
  }
  return kinds
}

function lastOf({ names, path }: WorkspacePath): string {
  const last = names.at(-1)
  if (last === undefined) throw notRegular(path)
  return last
}

function entryAt(path: string): BigIntStats | null {
  try {
    return lstatSync(path, { bigint: true })
  } catch {
    return null
  }
}

async function closing<T>(held: HeldPlace, use: () => T | Promise<T>): Promise<T> {
  try {
    return await use()
  } finally {
    letGo(held.handle)
  }
}

/** False when there was something already. */
async function makeFolder(path: string): Promise<boolean> {
  try {
    await mkdir(path)
    return true
  } catch (error) {
    if (systemCodeOf(error) !== 'EEXIST') throw error
    return false
  }
}

/** Undefined: there is nothing; null: nobody can tell what is there. */
function missing(error: unknown): undefined | null {
  return systemCodeOf(error) === 'ENOENT' ? undefined : null
}

const AT_ONCE_BYTES_MAX = 64 * 1024

/** Null when there is more; the size may have changed since it was asked. */
async function readUpTo(file: FileHandle, sizeExpected: number, bytesMax: number): Promise<Buffer | null> {
  let bytes = Buffer.allocUnsafe(Math.min(sizeExpected, bytesMax) + 1)
  let length = 0
  for (;;) {
    const asked = bytes.length - length
    // A small file is read at once: a way through the thread pool takes ten times as long.
    const bytesRead =
      asked <= AT_ONCE_BYTES_MAX
        ? readSync(file.fd, bytes, length, asked, length)
        : (await file.read(bytes, length, asked, length)).bytesRead
    length += bytesRead
    if (length > bytesMax) return null
    // A regular file gives less than was asked for only at its end.
    if (bytesRead < asked) return bytes.subarray(0, length)
    bytes = Buffer.concat([bytes], Math.min(length * 2, bytesMax + 1))
  }
}
