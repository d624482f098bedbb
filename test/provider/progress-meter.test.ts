import { Buffer } from 'node:buffer'

import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import { createProgressMeter } from '../../src/provider/progress-meter.ts'

/** After which bytes the meter saw progress, fed one at a time. */
function progressAt(text: string): readonly number[] {
  const meter = createProgressMeter('stream')
  return [...Buffer.from(text)].flatMap((byte, at) => (meter.feed(Uint8Array.of(byte)) ? [at] : []))
}

test.for([
  ['LF', 'data: 1\n\ndata: 2\n\n', [8, 17]],
  ['CRLF', 'data: 1\r\n\r\ndata: 2\r\n\r\n', [9, 20]],
  ['CR', 'data: 1\r\rdata: 2\r\r', [8, 17]],
  ['names and several lines', 'event: x\ndata: 1\ndata: 2\n\n', [25]],
] as const)('an event is progress when it ends, with %s', ([, text, ends]) => {
  expect(progressAt(text)).toEqual(ends)
})

test.for([
  ': ka\n\n',
  '\n\n\n',
  '\r\n\r\n',
  'event: x\n\n',
  'retry: 1\r\n\r\n',
  'id: 1\n\n',
  'database: 1\n\n',
  ' data: 1\n\n',
  'data: 1\r\n',
])('bytes as in %j are no progress', (text) => {
  expect(progressAt(text)).toEqual([])
})

test('a whole chunk is progress when any event in it ended', () => {
  expect(createProgressMeter('stream').feed(Buffer.from(': ka\n\ndata: 1\n\n: ka\n\n'))).toBe(true)
})

test('a body that comes whole makes progress with anything but white space', () => {
  const meter = createProgressMeter('body')
  expect([' \n', '{', '\r\n\t'].map((text) => meter.feed(Buffer.from(text)))).toEqual([false, true, false])
})

const PARTS = ['\n', '\r', '\r\n', '\n\n', 'data:', 'data: 1', ': ka', 'event: x', ' ', 'x']

test('a stream makes progress in the same places for any chunking', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...PARTS)), fc.array(fc.nat(40)), (parts, cuts) => {
      const bytes = Buffer.from(parts.join(''))
      const ends = progressAt(parts.join(''))
      const meter = createProgressMeter('stream')
      const edges = [...new Set([0, ...cuts.filter((at) => at < bytes.length), bytes.length])].sort(
        (a, b) => a - b,
      )
      for (const [at, from] of edges.slice(0, -1).entries()) {
        const to = edges[at + 1] ?? from
        const hasEnded = meter.feed(bytes.subarray(from, to))
        expect(hasEnded).toBe(ends.some((end) => end >= from && end < to))
      }
    }),
    { numRuns: 2000 },
  )
})
