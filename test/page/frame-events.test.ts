import { Buffer } from 'node:buffer'

import { expect, test } from 'vitest'

import { readFrameEvents, type FrameBatch } from '../../src/inspect/page/frame-events.ts'
import { plainFrame, sseOf, streamOf } from './sse-stream.ts'

async function read(stream: ReadableStream<Uint8Array>, after = -1): Promise<readonly FrameBatch[]> {
  const batches: FrameBatch[] = []
  for await (const batch of readFrameEvents(stream, after)) batches.push(batch)
  return batches
}

function seqs(batches: readonly FrameBatch[]): readonly number[] {
  return batches.flatMap(({ frames }) => frames.map(({ seq }) => seq))
}

test('a stream gives the same frames wherever it is cut in two', async () => {
  const frames = [0, 1].map((seq) => plainFrame(seq))
  const bytes = new Uint8Array(Buffer.from(`: ka\n\n${sseOf(frames)}`))
  for (let cut = 1; cut < bytes.length; cut++) {
    const batches = await read(streamOf([bytes.subarray(0, cut), bytes.subarray(cut)]))
    expect(batches.flatMap((batch) => batch.frames)).toEqual(frames)
  }
})

test('a stream that comes byte by byte gives every frame once', async () => {
  const bytes = new Uint8Array(Buffer.from(sseOf([0, 1, 2].map((seq) => plainFrame(seq)))))
  const pieces = Array.from(bytes, (_, at) => bytes.subarray(at, at + 1))
  expect(seqs(await read(streamOf(pieces)))).toEqual([0, 1, 2])
})

test('frames of one piece are given together', async () => {
  const batches = await read(streamOf([sseOf([0, 1, 2].map((seq) => plainFrame(seq)))]))
  expect(batches).toHaveLength(1)
})

test('frames that are known are not given again', async () => {
  const batches = await read(streamOf([sseOf([3, 4, 5].map((seq) => plainFrame(seq)))]), 4)
  expect(seqs(batches)).toEqual([5])
})

test('a frame that is missing breaks the stream', async () => {
  const broken = streamOf([sseOf([plainFrame(0), plainFrame(2)])])
  await expect(read(broken)).rejects.toThrow('frame 1 is missing: 2 came instead')
})

test('a stream that goes on behind the known frames with a gap is broken', async () => {
  await expect(read(streamOf([sseOf([plainFrame(7)])]), 4)).rejects.toThrow('frame 5 is missing')
})

test.each(['not json', '[]', '{"seq":0}'])('data that is no frame breaks the stream: %s', async (data) => {
  await expect(read(streamOf([`event: frame\ndata: ${data}\n\n`]))).rejects.toThrow('not a frame')
})

test.each(['end', 'too_slow', 'closing'])(
  'the farewell %s comes after the frames before it',
  async (kind) => {
    const text = `${sseOf([plainFrame(0)])}event: ${kind}\ndata: {"reason":"because"}\n\n${sseOf([plainFrame(1)])}`
    const batches = await read(streamOf([text]))
    expect(seqs(batches)).toEqual([0])
    expect(batches.at(-1)?.farewell).toEqual({ kind, reason: 'because' })
  },
)

test('events of kinds that the page does not know are passed over', async () => {
  const text = `event: later\ndata: {}\n\n${sseOf([plainFrame(0)])}`
  expect(seqs(await read(streamOf([text])))).toEqual([0])
})

test('a reader who leaves gives the connection back', async () => {
  let isCancelled = false
  const stream = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(new Uint8Array(Buffer.from(sseOf([plainFrame(0)])))),
    cancel: () => {
      isCancelled = true
    },
  })
  for await (const batch of readFrameEvents(stream, -1)) {
    expect(batch.frames).toHaveLength(1)
    break
  }
  expect(isCancelled).toBe(true)
})
