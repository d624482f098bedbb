import { StringDecoder } from 'node:string_decoder'

import { LoopchartError } from '../errors.ts'

const LINE_LENGTH_MAX = 10 * 1024 * 1024

/** The lines of an input as they come, also a last one that has no end. Throws `usage` for one that is too long. */
export async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<string, void, undefined> {
  const decoder = new StringDecoder('utf8')
  let waiting: string[] = []
  let length = 0
  for await (const chunk of chunks) {
    const [first = '', ...others] = decoder.write(chunk).split('\n')
    waiting.push(first)
    length += first.length
    if (length > LINE_LENGTH_MAX) throw tooLong()
    for (const next of others) {
      yield withoutReturn(waiting.join(''))
      waiting = [next]
      ;({ length } = next)
    }
  }
  const last = waiting.join('') + decoder.end()
  if (last !== '') yield withoutReturn(last)
}

function withoutReturn(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line
}

function tooLong(): LoopchartError {
  return new LoopchartError('usage', `a line of standard input has more than ${LINE_LENGTH_MAX} characters`)
}
