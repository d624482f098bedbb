import type { FileHandle } from 'node:fs/promises'

import { LoopchartError } from '../../errors.ts'
import type { Workspace } from './workspace.ts'
import type { WorkspacePath } from './workspace-path.ts'

const WHOLE_BYTES_MAX = 16 * 1024 * 1024
const RANGE_BYTES_MAX = 256 * 1024 * 1024
const CHUNK_BYTES = 256 * 1024
const PROBED_BYTES = 8 * 1024
const LINE_END = 0x0a

/** Which lines of a file, counted from 1; all of them without it. */
export interface LineRange {
  readonly first: number | undefined
  readonly last: number | undefined
  readonly signal: AbortSignal
}

/** Lines of a file, byte for byte, with the line end of the last one if it has one. */
export interface ReadLines {
  readonly bytes: Buffer
  /** Of the whole file. */
  readonly fileBytes: number
  /** The first line that is there; 0 when the file is empty. */
  readonly first: number
  /** The last line that is there; 0 when the file is empty. */
  readonly last: number
  /** Of the whole file. */
  readonly total: number
}

/**
 * Reads lines of a text file: at most 16 MiB of them, from a file of at most 256 MiB. Throws `file_too_large`,
 * `file_unreadable` for a binary file, and `tool_arguments_invalid` when there are no such lines.
 */
export async function readLines(
  workspace: Workspace,
  path: WorkspacePath,
  range: LineRange,
): Promise<ReadLines> {
  const { first = 1, last = Infinity } = range
  if (last < first) throw badRange(`end_line ${last} is before start_line ${first}`)
  const isWhole = range.first === undefined && range.last === undefined
  const read = await workspace.withFile(path, (file, { size }) => {
    const bytesMax = isWhole ? WHOLE_BYTES_MAX : RANGE_BYTES_MAX
    if (size > bytesMax) {
      const advice = size > RANGE_BYTES_MAX ? '' : '; give start_line and end_line'
      throw tooLarge(`${path.path} has ${size} bytes, more than ${bytesMax}${advice}`)
    }
    return scan(file, path.path, { first, last, signal: range.signal, bytesMax })
  })
  if (first > Math.max(read.total, 1))
    throw badRange(`start_line is ${first}, ${path.path} has ${read.total} lines`)
  const isEmpty = read.total === 0
  return { ...read, first: isEmpty ? 0 : first, last: Math.min(last, read.total) }
}

interface Scan {
  readonly first: number
  readonly last: number
  readonly bytesMax: number
  readonly signal: AbortSignal
}

async function scan(
  file: FileHandle,
  path: string,
  { first, last, bytesMax, signal }: Scan,
): Promise<Pick<ReadLines, 'bytes' | 'fileBytes' | 'total'>> {
  const kept: Buffer[] = []
  let keptBytes = 0
  let fileBytes = 0
  let line = 1
  let isLineBegun = false
  for (;;) {
    signal.throwIfAborted()
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
    const { bytesRead } = await file.read(chunk, 0, chunk.length, fileBytes)
    if (bytesRead === 0) break
    const bytes = chunk.subarray(0, bytesRead)
    if (fileBytes < PROBED_BYTES) refuseBinary(bytes.subarray(0, PROBED_BYTES - fileBytes), path)
    fileBytes += bytesRead
    if (fileBytes > bytesMax) throw tooLarge(`${path} grew over ${bytesMax} bytes while it was read`)
    const cut = cutLines(bytes, line, first, last)
    line = cut.line
    isLineBegun = bytes.at(-1) !== LINE_END
    keptBytes += cut.end - cut.begin
    if (keptBytes > WHOLE_BYTES_MAX)
      throw tooLarge(`these lines of ${path} have more than ${WHOLE_BYTES_MAX} bytes`)
    if (cut.end > cut.begin) kept.push(bytes.subarray(cut.begin, cut.end))
  }
  return { bytes: Buffer.concat(kept), fileBytes, total: isLineBegun ? line : line - 1 }
}

interface Cut {
  readonly begin: number
  readonly end: number
  /** The line that the byte after the chunk is in. */
  readonly line: number
}

function cutLines(bytes: Buffer, lineAtBegin: number, first: number, last: number): Cut {
  let line = lineAtBegin
  let begin = line >= first ? 0 : bytes.length
  let end = line > last ? 0 : bytes.length
  for (let at = bytes.indexOf(LINE_END); at !== -1; at = bytes.indexOf(LINE_END, at + 1)) {
    line += 1
    if (line === first) begin = at + 1
    if (line === last + 1) end = at + 1
  }
  return { begin, end: Math.max(begin, end), line }
}

function refuseBinary(bytes: Buffer, path: string): void {
  if (!bytes.includes(0)) return
  throw new LoopchartError(
    'file_unreadable',
    `${path} is a binary file, it has a NUL byte; only text can be read`,
  )
}

function tooLarge(message: string): LoopchartError {
  return new LoopchartError('file_too_large', message)
}

function badRange(message: string): LoopchartError {
  return new LoopchartError('tool_arguments_invalid', message)
}
