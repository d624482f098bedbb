import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import { JoinedText } from '../../../src/inspect/page/derive/joined-text.ts'

const pieces = fc.array(
  fc.tuple(fc.nat(3), fc.oneof(fc.string(), fc.string({ minLength: 300, maxLength: 400 }))),
  {
    maxLength: 80,
  },
)

test('any part of a text that came in pieces is read as if it had come at once', () => {
  fc.assert(
    fc.property(
      pieces,
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (list, a, b) => {
        const joined = new JoinedText()
        let [seq, whole] = [0, '']
        for (const [gap, piece] of list) {
          seq += gap
          whole += piece
          joined.add(seq, piece)
        }
        const [from, to] = [Math.floor(a * whole.length), Math.floor(b * whole.length)]
        expect(joined.slice(from, to)).toBe(from < to ? whole.slice(from, to) : '')
        expect(joined.slice(0, joined.lengthAt(seq))).toBe(whole)
      },
    ),
  )
})

test('a text is as long at a frame as what had come by then', () => {
  const joined = new JoinedText()
  joined.add(3, 'ab')
  joined.add(7, 'cde')
  expect([2, 3, 6, 7, 8].map((at) => joined.lengthAt(at))).toEqual([0, 2, 2, 5, 5])
})

test('a part of a long text is read across the places where it is kept apart', () => {
  const pieces = Array.from({ length: 100 }, (_, at) => String(at).padStart(4, '0').repeat(250))
  const joined = new JoinedText()
  pieces.forEach((piece, at) => joined.add(at, piece))
  const whole = pieces.join('')
  for (const [from, to] of [
    [16_000, 17_000],
    [16_383, 50_001],
    [99_000, 100_000],
  ] as const) {
    expect(joined.slice(from, to)).toBe(whole.slice(from, to))
  }
})
