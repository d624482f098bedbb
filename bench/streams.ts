import { sseText, StreamBuilder } from '../scripts/fixtures/stream-builder.ts'

/** A response whose one message arrives in `count` deltas of about one token. */
export function deltaStream(count: number, word = ' word'): Buffer {
  const pieces = Array.from({ length: count }, (_, at) => `${word}${at % 97}`)
  return Buffer.from(sseText(new StreamBuilder().start().message(0, pieces).end().events))
}

export function cutEvery(bytes: Uint8Array, size: number): Uint8Array[] {
  const chunks: Uint8Array[] = []
  for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.subarray(at, at + size))
  return chunks
}

/** One chunk an event, as a provider that flushes after each sends it. */
export function cutAtEvents(bytes: Buffer): Uint8Array[] {
  const chunks: Uint8Array[] = []
  let start = 0
  for (let end = bytes.indexOf('\n\n'); end !== -1; end = bytes.indexOf('\n\n', start)) {
    chunks.push(bytes.subarray(start, end + 2))
    start = end + 2
  }
  return chunks
}
