import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import { codePointLength } from '../../src/protocol/code-point-length.ts'

test.each([
  ['', 0],
  ['abc', 3],
  ['\u{1F600}', 1],
  ['a\u{1F600}b\u{10FFFF}', 4],
  ['\uD83D', 1],
  ['\uDE00\uD83D', 2],
  ['\uD83D\uD83D\uDE00', 2],
])('%j has %i code points', (text, length) => {
  expect(codePointLength(text)).toBe(length)
})

test('any text is as long as the list of its code points', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.nat(0xff_ff).map((unit) => String.fromCharCode(unit)) }), (text) => {
      expect(codePointLength(text)).toBe(Array.from(text).length)
    }),
    { seed: 1, numRuns: 500 },
  )
})

test('surrogates in any order are counted as the list of code points counts them', () => {
  const unit = fc.constantFrom('\uD83D', '\uDE00', '\uDBFF', '\uDC00', 'a')
  fc.assert(
    fc.property(fc.string({ unit }), (text) => {
      expect(codePointLength(text)).toBe(Array.from(text).length)
    }),
    { seed: 1, numRuns: 500 },
  )
})
