import { expect, test } from 'vitest'

import { callItem, sseText, StreamBuilder } from '../../scripts/fixtures/stream-builder.ts'
import { isDeeperThan } from '../../src/stream/json-depth.ts'
import { isSameJson, JsonComparer } from '../../src/stream/same-json.ts'
import { TextBuffer } from '../../src/stream/text-buffer.ts'
import { decodeText } from '../decode.ts'

test('a text buffer gives back every piece, asked at any time', () => {
  const buffer = new TextBuffer()
  let expected = ''
  const asked: boolean[] = []
  for (let piece = 0; piece < 1600; piece += 1) {
    buffer.append(`${piece},`)
    expected += `${piece},`
    if (piece % 300 === 0) asked.push(buffer.text() === expected)
  }
  expect(asked).toEqual([true, true, true, true, true, true])
  expect(buffer.text()).toBe(expected)
  expect(buffer.length).toBe(expected.length)
})

test('a text of more than 512 deltas is whole in an item that is never finished', () => {
  const pieces = Array.from({ length: 1300 }, (_, piece) => `${piece} `)
  const { events } = new StreamBuilder().start().message(0, pieces)
  const { response } = decodeText(
    sseText(events.filter(({ type }) => type.endsWith('delta') || type.endsWith('added'))),
  )
  expect(response.items).toMatchObject([{ content: [{ text: pieces.join('') }] }])
})

test.for([
  ['{"a":1,"b":[1,2]}', '{ "b": [1, 2], "a": 1.0 }', true],
  ['{"a":1}', '{"a":1,"b":2}', false],
  ['{"a":1,"b":2}', '{"a":1}', false],
  ['[1,2]', '[1]', false],
  ['[1]', '{"0":1}', false],
  ['null', '{}', false],
  ['9007199254740993', '9007199254740992', false],
  ['[9007199254740993]', '[ 9007199254740993 ]', true],
  ['1e400', '1e500', false],
  ['{"__proto__":1}', '{"__proto__":2}', false],
  ['not json', 'not json', true],
  ['not json', 'not  json', false],
] as const)('%s and %s are the same JSON: %s', ([a, b, isSame]) => {
  expect(isSameJson(a, b)).toBe(isSame)
})

test('calls that the terminal response has in another order are told apart by their ids', () => {
  const stream = new StreamBuilder().start().call(0, 'add', ['{"a":1}']).call(1, 'add', ['{"a":2}'])
  const output = [callItem(1, 'add', '{"a":2}'), callItem(0, 'add', '{"a":1}')]
  const { response } = decodeText(sseText(stream.end('completed', { output }).events))
  expect(response.error).toBeNull()
  expect(response.calls.map((call) => [call.callId, call.arguments, call.disposition])).toEqual([
    ['call_0', '{"a":1}', 'ready'],
    ['call_1', '{"a":2}', 'ready'],
  ])
})

test('texts nested deeper than is compared are only the same as themselves', () => {
  const deep = '['.repeat(200) + ']'.repeat(200)
  expect(isSameJson(deep, deep)).toBe(true)
  expect(isSameJson(deep, ` ${deep}`)).toBe(false)
})

test('a comparer parses a bounded number of characters', () => {
  const comparer = new JsonComparer(100)
  const verdicts = Array.from({ length: 10 }, () => comparer.isSame('{"a":1}', '{ "a": 1 }'))
  expect(verdicts.filter(Boolean).length).toBe(5)
  expect(comparer.isSame('{"a":1}', '{"a":1}')).toBe(true)
})

test.for([
  ['brackets in strings', `"${'['.repeat(400)}"`, 2, false],
  ['an escaped quote', `["\\"${'['.repeat(400)}"]`, 2, false],
  ['an escaped backslash before the quote', `["\\\\",${'['.repeat(400)}`, 2, true],
  ['exactly the depth', '['.repeat(10) + ' '.repeat(400) + ']'.repeat(10), 10, false],
  ['one more', '['.repeat(11) + ' '.repeat(400) + ']'.repeat(11), 10, true],
  ['the same depth again and again', '[[]],'.repeat(400), 2, false],
] as const)('depth is told right with %s', ([, json, depth, isDeeper]) => {
  expect(isDeeperThan(depth, json)).toBe(isDeeper)
})
