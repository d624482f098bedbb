import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import { deltaOf, PiecedText } from '../../../src/journal/body-delta.ts'

test('a text is said by any other, letter for letter', () => {
  const piece = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 40 }),
    fc.constantFrom('{"type":"message"}', 'x'.repeat(5000), '😀'.repeat(60), '\uD800'),
  )
  const pieces = fc.array(piece, { maxLength: 12 }).map((list) => list.join(''))
  fc.assert(
    fc.property(pieces, pieces, pieces, (shared, one, other) => {
      for (const base of [`${shared}${one}${shared}`, one, '']) {
        const text = `${shared}${other}${shared}${one}`
        const delta = JSON.parse(JSON.stringify(deltaOf(base, text)))
        const said = new PiecedText([base]).apply(delta)
        expect(said.text).toBe(text)
        // And the next is said by this one, in whatever pieces it is.
        expect(said.apply(deltaOf(text, base)).text).toBe(base)
      }
    }),
    { numRuns: 500 },
  )
})

const body = (left: number, items: readonly string[]): string =>
  `{"model":"m","max_tool_calls":${left},"input":[${items.join(',')}]}`

test('a request that extends the one before costs what it adds', () => {
  const said = Array.from({ length: 500 }, (_, at) => `{"type":"message","content":"line ${at}"}`)
  const added = '{"type":"message","content":"one more"}'
  const delta = deltaOf(body(10, said), body(9, [...said, added]))
  expect(JSON.stringify(delta).length).toBeLessThan(200)
  expect(delta.some((part) => typeof part === 'string' && part.includes('one more'))).toBe(true)
})

test('a text that repeats the one before is one range', () => {
  const text = 'the same request, sent again '.repeat(1000)
  expect(deltaOf(text, text)).toEqual([[0, text.length]])
})

test('a text that has nothing of the other is itself', () => {
  expect(deltaOf('a'.repeat(500), 'b'.repeat(500))).toEqual(['b'.repeat(500)])
  expect(deltaOf('', 'b')).toEqual(['b'])
})
