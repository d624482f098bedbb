import { createReadStream } from 'node:fs'
import { isatty } from 'node:tty'

const STDIN = 0

/** Whether a person types what standard input gives. */
export function isTyped(): boolean {
  // Not by process.stdin: to look at that makes a pipe one that is never waited for, and then it cannot be read below.
  return isatty(STDIN)
}

/** What is told of an input that somebody named, by a path or `-`. */
export function nameOf(given: string): string {
  return given === '-' ? 'standard input' : given
}

/** What comes on standard input, piece by piece. Throws when it cannot be read. */
export async function* readStandardInput(): AsyncGenerator<Buffer, void, undefined> {
  try {
    // By its number: as a stream object, an input that cannot be read looks like an empty one.
    yield* buffersOf(createReadStream('', { fd: STDIN, autoClose: false }))
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EAGAIN')) throw error
    // Whoever started this, such as npx, made the pipe one that is never waited for. The stream object can do that.
    yield* buffersOf(process.stdin)
  }
}

async function* buffersOf(input: AsyncIterable<unknown>): AsyncGenerator<Buffer, void, undefined> {
  for await (const chunk of input) if (Buffer.isBuffer(chunk)) yield chunk
}
