import { Buffer } from 'node:buffer'

import type { Frame } from '../../src/frames/generated/frame.ts'

/** A frame of no importance. */
export function plainFrame(seq: number, ts = 1000 + seq): Frame {
  return { v: 1, run_id: 'run_1', seq, ts, type: 'warning', cause: 'test', figures: { words: 'Grün ist 緑' } }
}

/** Frames as the service sends them. */
export function sseOf(frames: readonly Frame[]): string {
  return frames.map((frame) => `id: ${frame.seq}\nevent: frame\ndata: ${JSON.stringify(frame)}\n\n`).join('')
}

/** A stream that gives these pieces and ends, or breaks with an error. */
export function streamOf(
  pieces: readonly (string | Uint8Array)[],
  error?: Error,
): ReadableStream<Uint8Array> {
  const queue = pieces.map((piece) =>
    typeof piece === 'string' ? new Uint8Array(Buffer.from(piece)) : piece,
  )
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const piece = queue.shift()
        if (piece !== undefined) controller.enqueue(piece)
        else if (error === undefined) controller.close()
        else controller.error(error)
      },
    },
    { highWaterMark: 0 },
  )
}
