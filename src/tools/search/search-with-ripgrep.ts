import { spawn, type ChildProcess } from 'node:child_process'
import { isUtf8 } from 'node:buffer'
import { once } from 'node:events'
import { closeSync, constants, openSync, readSync } from 'node:fs'

import { HitList, isSearchableLine } from './hit-list.ts'
import { RipgrepReader } from './ripgrep-reader.ts'
import {
  assertWanted,
  BINARY_CHECK_BYTES,
  FILE_BYTES_MAX,
  isPassedOver,
  searchableFile,
  type SearchRequest,
} from './search-request.ts'

// What is the same for every search. No --sort: it would use a single thread.
const OPTIONS: readonly string[] = [
  '--no-config',
  '--no-ignore',
  '--no-messages',
  '--no-heading',
  '--with-filename',
  '--line-number',
  '--null',
  '--color=never',
  '--text',
  '--encoding=none',
  `--max-filesize=${FILE_BYTES_MAX}`,
  '--regex-size-limit=100M',
]
const OPEN_SAFELY = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
const COMPLAINT_BYTES_MAX = 4096

/**
 * Searches with ripgrep, in a folder that is held open. Gives null when ripgrep did not do its work, for whatever
 * reason: the other engine finds the same. Throws `search_failed` when too much is found, `tool_cancelled` on abort.
 */
export async function searchWithRipgrep(
  program: string,
  folder: string,
  request: SearchRequest,
  nameGlob: string | null,
): Promise<HitList | null> {
  assertWanted(request.signal)
  const hits = new HitList()
  const isWanted = wantedFiles(folder, request)
  const reader = new RipgrepReader((path, line, bytes) => {
    const file = isWanted(path)
    // A copy: a few lines must not hold on to all that ripgrep wrote around them.
    if (file !== null && isSearchableLine(bytes)) hits.add(file, { line, bytes: Buffer.from(bytes) })
  })
  const child = spawn(program, argumentsFor(request.pattern.ripgrep, nameGlob), {
    cwd: folder,
    env: { PATH: process.env['PATH'] ?? '' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const isDone = await follow(child, reader, request.signal)
  assertWanted(request.signal)
  return isDone ? hits : null
}

function argumentsFor(pattern: string, nameGlob: string | null): readonly string[] {
  const include = nameGlob === null ? [] : [`--glob=${nameGlob}`]
  return [...OPTIONS, ...include, '--glob=!node_modules', '-e', pattern, '--', './']
}

/** Reads it to its end. Whether it did its work. */
async function follow(child: ChildProcess, reader: RipgrepReader, signal: AbortSignal): Promise<boolean> {
  const kill = (): void => void child.kill('SIGKILL')
  let failure: unknown = null
  let complaintBytes = 0
  child.stdout?.on('data', (chunk: Buffer) => {
    if (failure !== null) return
    try {
      reader.read(chunk)
    } catch (error) {
      failure = error
      kill()
    }
  })
  child.stderr?.on('data', (chunk: Buffer) => {
    complaintBytes += chunk.length
    if (complaintBytes > COMPLAINT_BYTES_MAX) kill()
  })
  signal.addEventListener('abort', kill, { once: true })
  try {
    const [code] = await once(child, 'close')
    if (failure !== null) throw failure
    // 1: nothing found. 2 without a word: a file could not be read, which the other engine passes over as well.
    return code === 0 || code === 1 || (code === 2 && complaintBytes === 0)
  } catch (error) {
    if (failure !== null) throw error
    return false
  } finally {
    signal.removeEventListener('abort', kill)
  }
}

/** Says for each path of ripgrep which file of the workspace it is, or null when that is not to be searched. */
function wantedFiles(folder: string, request: SearchRequest): (path: Buffer) => string | null {
  // The lines of a file come together, so the last answer is the next one most of the time.
  let lastPath: Buffer | null = null
  let lastFile: string | null = null
  return (path) => {
    if (lastPath !== null && lastPath.equals(path)) return lastFile
    lastPath = Buffer.from(path)
    lastFile = isUtf8(path) ? wantedFile(folder, request, path.toString().slice('./'.length)) : null
    return lastFile
  }
}

function wantedFile(folder: string, request: SearchRequest, rest: string): string | null {
  // A glob for ripgrep brings back hidden files that fit it.
  if (rest.split('/').some((name) => isPassedOver(name))) return null
  const file = searchableFile(request, rest)
  return file !== null && isText(`${folder}/${rest}`) ? file.path : null
}

/** Right away, not with a promise: the answer decides what counts as too many hits. */
function isText(path: string): boolean {
  try {
    const descriptor = openSync(path, OPEN_SAFELY)
    try {
      const length = readSync(descriptor, beginning, 0, BINARY_CHECK_BYTES, 0)
      return !beginning.subarray(0, length).includes(0)
    } finally {
      closeSync(descriptor)
    }
  } catch {
    return false
  }
}

const beginning = Buffer.alloc(BINARY_CHECK_BYTES)
