import { isUtf8 } from 'node:buffer'

import { LoopchartError } from '../errors.ts'

const MIB = 1024 * 1024
const LINE_BYTES_MAX = 10 * MIB
const LINE_END = 0x0a

/**
 * The lines of an input as they come, also a last one that has no end. Throws `usage` for one that is too long or that is
 * not UTF-8; those before it have been given then.
 */
export async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<string, void, undefined> {
  let waiting: Buffer[] = []
  let length = 0
  const add = (part: Buffer): void => {
    length += part.length
    if (length > LINE_BYTES_MAX) throw tooLong()
    waiting.push(part)
  }
  for await (const chunk of chunks) {
    let from = 0
    // No character of several bytes has one that looks like the end of a line.
    for (let end = chunk.indexOf(LINE_END); end !== -1; end = chunk.indexOf(LINE_END, from)) {
      add(chunk.subarray(from, end))
      yield textOf(waiting)
      waiting = []
      length = 0
      from = end + 1
    }
    if (from < chunk.length) add(chunk.subarray(from))
  }
  if (length > 0) yield textOf(waiting)
}

function textOf(parts: readonly Buffer[]): string {
  const bytes = Buffer.concat(parts)
  if (!isUtf8(bytes)) {
    throw new LoopchartError('usage', 'a line of standard input is not UTF-8; convert it')
  }
  const line = bytes.toString('utf8')
  return line.endsWith('\r') ? line.slice(0, -1) : line
}

function tooLong(): LoopchartError {
  return new LoopchartError('usage', `a line of standard input has more than ${LINE_BYTES_MAX / MIB} MiB`)
}
