import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import { prettyJson } from '../../../src/inspect/page/derive/pretty-json.ts'

test('JSON is laid out as JSON.stringify lays it out', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
      expect(prettyJson(JSON.stringify(value))).toBe(JSON.stringify(value, null, 2))
    }),
  )
})

test('numbers and keys that parsing would change stand as they came', () => {
  expect(prettyJson('{"id":12345678901234567890,"a":1.0,"a":2}')).toBe(
    '{\n  "id": 12345678901234567890,\n  "a": 1.0,\n  "a": 2\n}',
  )
})

test('what is not JSON is not laid out', () => {
  expect(['{"a":', 'add(2, 3)', '', '{a:1}'].map(prettyJson)).toEqual([null, null, null, null])
})

test('a value that nests too deeply to be parsed does not break the page', () => {
  const deep = '['.repeat(100_000) + ']'.repeat(100_000)
  expect(() => prettyJson(deep)).not.toThrow()
})
