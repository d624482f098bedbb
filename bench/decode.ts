import { FrameStamp } from '../src/frames/frame-stamp.ts'
import { recordResponse } from '../src/loop/record-response.ts'
import { tolerant } from '../src/protocol/tolerant.ts'
import type { AssembledResponse } from '../src/stream/assemble-response.ts'
import { readFloor } from './floor.ts'
import { measureCpu, median, pairedRatio } from './measure.ts'
import { cutAtEvents, cutEvery, deltaStream } from './streams.ts'

const DELTAS = 20_000

export interface Figure {
  readonly id: string
  readonly value: number
  readonly unit: string
  readonly budget: number
  readonly about: string
}

/** Full decode, tolerant validation, frames and reducer over one response, as a ratio to the floor. */
export function decodeFigures(rounds: number): readonly Figure[] {
  const bytes = deltaStream(DELTAS)
  const shapes = {
    'one event a chunk': cutAtEvents(bytes),
    '16 KiB chunks': cutEvery(bytes, 16 * 1024),
    '64 KiB chunks': cutEvery(bytes, 64 * 1024),
    'one event a chunk, Japanese': cutAtEvents(deltaStream(DELTAS, '言葉')),
    '16 KiB chunks, Japanese': cutEvery(deltaStream(DELTAS, '言葉'), 16 * 1024),
  }
  return Object.entries(shapes).map(([shape, chunks]) => {
    assertSameWork(chunks)
    const times = measureCpu(rounds, {
      floor: () => readFloor(chunks, () => undefined),
      loopchart: () => void decodeAll(chunks),
    })
    const { floor = [], loopchart = [] } = times
    return {
      id: 'sse_parse_us_per_event',
      value: pairedRatio(loopchart, floor),
      unit: 'x floor',
      // The figure to hold is that of text as most providers escape or write it; the others are shown beside it.
      budget: shape.includes('Japanese') ? Number.POSITIVE_INFINITY : 1.5,
      about: `${shape}: ${micros(loopchart)} us, floor ${micros(floor)} us`,
    }
  })
}

/** From the first byte of a body to the first text frame, one delta in 16-byte chunks. */
export function firstFrameFigure(): Figure {
  const bytes = oneDelta()
  const chunks = cutEvery(bytes, 16)
  const times: number[] = []
  for (let round = 0; round < 2000; round += 1) {
    const from = process.hrtime.bigint()
    let seen = 0n
    const reader = recordResponse({
      ...recorder(),
      onFrame: ({ type }) => {
        if (type === 'output_text_delta') seen = process.hrtime.bigint()
      },
    })
    for (const chunk of chunks) reader.feed(chunk)
    if (seen === 0n) throw new Error('no text frame came out')
    times.push(Number(seen - from) / 1000)
  }
  const about = `median of 2,000; first of ${bytes.length} bytes to first text frame`
  return { id: 'ttft_overhead_us', value: median(times.slice(200)), unit: 'us', budget: 50, about }
}

function micros(values: readonly number[]): string {
  return (median(values) / DELTAS).toFixed(2)
}

function oneDelta(): Buffer {
  const data = JSON.stringify({
    type: 'response.output_text.delta',
    sequence_number: 0,
    item_id: 'msg_0',
    output_index: 0,
    content_index: 0,
    delta: 'Hello',
  })
  return Buffer.from(`event: response.output_text.delta\ndata: ${data}\n\n`)
}

function recorder(): Omit<Parameters<typeof recordResponse>[0], 'onFrame'> {
  return { stamp: new FrameStamp('bench', Date.now), turn: 0, attempt: 0, profile: tolerant, shape: 'stream' }
}

function decodeAll(chunks: readonly Uint8Array[]): { frames: number; response: AssembledResponse } {
  let frames = 0
  const reader = recordResponse({ ...recorder(), onFrame: () => void (frames += 1) })
  for (const chunk of chunks) reader.feed(chunk)
  return { frames, response: reader.end() }
}

/** A ratio means nothing when one side skips work: both must see every event. */
function assertSameWork(chunks: readonly Uint8Array[]): void {
  let events = 0
  readFloor(chunks, () => void (events += 1))
  const { frames, response } = decodeAll(chunks)
  // One frame an event and one a delta, one for [DONE], one for the first byte.
  if (frames !== events + DELTAS + 2 || response.status !== 'completed') {
    throw new Error(`decoded ${frames} frames of ${events} events, ${response.status}`)
  }
}
