import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import { firstWhole, lastWhole, nextBoundary } from '../../../src/tools/artifacts/utf8-boundary.ts'

// Leads, continuations and the second bytes with a range of their own come often enough to meet.
const byte = fc.oneof(
  fc.constantFrom(
    0x61,
    0x80,
    0x8f,
    0x90,
    0x9f,
    0xa0,
    0xbf,
    0xc1,
    0xc2,
    0xe0,
    0xe2,
    0xed,
    0xf0,
    0xf4,
    0xf5,
    0xff,
  ),
  fc.nat(255),
)
const anyBytes = fc.array(byte, { maxLength: 24 }).map((bytes) => Buffer.from(bytes))

test('a boundary is the next place where bytes cut apart still decode to the text of the whole', () => {
  fc.assert(
    fc.property(anyBytes, fc.nat(30), (bytes, at) => {
      const isBoundary = (place: number): boolean =>
        bytes.toString('utf8', 0, place) + bytes.toString('utf8', place) === bytes.toString()
      let first = Math.min(at, bytes.length)
      while (!isBoundary(first)) first += 1
      expect(nextBoundary(bytes, at)).toBe(first)
    }),
    { numRuns: 20_000 },
  )
})

test('a text cut anywhere has whole characters only after its cut ends are left out', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.nat(40), fc.nat(40), (any, from, length) => {
      // What is in the text itself is no sign of a cut.
      const text = any.replaceAll('\u{FFFD}', '\u{FFFC}')
      const cut = Buffer.from(text).subarray(from, from + length)
      const start = firstWhole(cut)
      const end = Math.max(start, lastWhole(cut))
      expect(text.isWellFormed() ? cut.toString('utf8', start, end) : '').not.toContain('\u{FFFD}')
      expect(start + cut.length - end).toBeLessThanOrEqual(6)
    }),
    { numRuns: 5000 },
  )
})
