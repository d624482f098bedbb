import { constants, readlinkSync } from 'node:fs'
import { open, realpath, stat, type FileHandle } from 'node:fs/promises'
import { isAbsolute, relative, sep } from 'node:path'

import { LoopchartError } from '../../errors.ts'

/** A file or folder that is held open: what it is can no longer be swapped for something else. */
export interface HeldPlace {
  readonly handle: FileHandle
  /** Leads to exactly what is held, whatever its names lead to by now. */
  readonly path: string
  /** The real path, without links, that it had when it was asked. */
  readonly place: string
}

// Not among the constants of Node. With it, opening has no effect on what is opened: a pipe does not wait for a
// writer, a device does not start, and the folder need not be listable.
const O_PATH = 0o10000000

// On a system that does not know O_PATH, these two see to it that a pipe does not wait and no terminal is taken.
const PATIENTLY = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY

/**
 * Whether the system has paths for open files. Without them (macOS, Windows), what was opened is compared with what
 * its real path leads to: that finds a link that leads out, but a swap between the comparison and the use goes
 * unseen, so there the promise is weaker.
 */
const HAS_DESCRIPTOR_PATHS = process.platform === 'linux' && isOwnProcess()

// In a container, /proc can be that of another process namespace, where our number is somebody else's.
function isOwnProcess(): boolean {
  try {
    return readlinkSync('/proc/self') === String(process.pid)
  } catch {
    return false
  }
}

/** The path of an open file or folder that other processes can use too, or null where there is no such thing. */
export function descriptorPath(descriptor: number): string | null {
  return HAS_DESCRIPTOR_PATHS ? `/proc/${process.pid}/fd/${descriptor}` : null
}

/** Opens without side effects what a path leads to, links included. The caller closes the handle. */
export async function holdPlace(path: string, flags = 0): Promise<HeldPlace> {
  const handle = await open(path, (HAS_DESCRIPTOR_PATHS ? O_PATH : 0) | PATIENTLY | flags)
  try {
    const own = descriptorPath(handle.fd)
    // At once: it is the kernel that answers, not a disk, and a way through the thread pool takes ten times as long.
    if (own !== null) return { handle, path: own, place: readlinkSync(own) }
    const place = await realpath(path)
    const [held, found] = await Promise.all([handle.stat({ bigint: true }), stat(place, { bigint: true })])
    if (held.dev !== found.dev || held.ino !== found.ino) {
      throw new LoopchartError('path_refused', 'the path changed while it was looked at; try again')
    }
    return { handle, path: place, place }
  } catch (error) {
    await handle.close()
    throw error
  }
}

/** Holds a folder; fails with ENOTDIR when it is none. */
export function holdFolder(path: string, flags = 0): Promise<HeldPlace> {
  return holdPlace(path, (constants.O_DIRECTORY ?? 0) | flags)
}

/** Gives the content of a held file to read. */
export async function readHeld<T>(held: HeldPlace, use: (file: FileHandle) => Promise<T>): Promise<T> {
  if (!HAS_DESCRIPTOR_PATHS) return use(held.handle)
  const file = await open(held.path, PATIENTLY)
  try {
    return await use(file)
  } finally {
    letGo(file)
  }
}

/** Closes what was only read. Nobody waits for it: nothing can be lost. */
export function letGo(handle: FileHandle): void {
  handle.close().catch(() => undefined)
}

/**
 * The names that lead from a root to a real path; null when it is not inside. Not by comparing beginnings: /ws-evil
 * begins with /ws and is not inside of it.
 */
export function namesInside(root: string, place: string): readonly string[] | null {
  const way = relative(root, place)
  if (way === '') return []
  const names = way.split(sep)
  return isAbsolute(way) || names[0] === '..' ? null : names
}
