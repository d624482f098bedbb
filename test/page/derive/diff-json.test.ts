import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import { diffJson } from '../../../src/inspect/page/derive/diff-json.ts'
import { deriveIndex } from '../../../src/inspect/page/derive/run-index.ts'
import type { Json } from '../../../src/protocol/json.ts'
import { canonicalJson } from '../../../src/protocol/canonical-json.ts'
import { FIXTURE_RUNS } from './fixture-runs.ts'

const changed = (before: Json, after: Json): readonly string[] =>
  diffJson(before, after).changes.map(({ kind, path }) => `${kind} ${path}`)

test('what was added, removed and changed is named by its path', () => {
  expect(
    changed({ a: 1, b: { c: [1, 2], d: 'x' }, 'odd key': true }, { a: 2, b: { c: [1, 2, 3] }, e: null }),
  ).toEqual(['changed a', 'added b.c[2]', 'removed b.d', 'removed "odd key"', 'added e'])
})

test('an item put in front of a list changes none behind it', () => {
  expect(changed(['b', 'c'], ['a', 'b', 'c'])).toEqual(['added [0]'])
  expect(changed(['a', 'b', 'c'], ['a', 'c'])).toEqual(['removed [1]'])
  expect(changed(['a', 'b', 'c', 'd'], ['b', 'x', 'd'])).toEqual(['removed [0]', 'changed [1]'])
})

test('an item of another kind is not compared field by field', () => {
  const before = [{ type: 'message', role: 'user', content: 'hi' }]
  expect(changed(before, [{ type: 'message', role: 'user', content: 'ho' }])).toEqual(['changed [0].content'])
  expect(changed(before, [{ type: 'function_call', name: 'add' }])).toEqual(['changed [0]'])
})

test('two values differ somewhere exactly when they are not the same', () => {
  const value = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<Json>
  fc.assert(
    fc.property(value, value, (before, after) => {
      const isSame = canonicalJson(before) === canonicalJson(after)
      expect(diffJson(before, after).changes.length === 0).toBe(isSame)
      expect(diffJson(before, before).changes).toEqual([])
    }),
  )
})

test('keys of Object.prototype are keys like others', () => {
  expect(changed({}, JSON.parse('{"__proto__":1,"constructor":2}') as Json)).toEqual([
    'added __proto__',
    'added constructor',
  ])
})

test('more changes than anybody reads are cut, and it is said', () => {
  const many = Object.fromEntries(Array.from({ length: 2000 }, (_, at) => [`k${at}`, at]))
  const { changes, isCut } = diffJson({}, many)
  expect([changes.length, isCut]).toEqual([500, true])
})

test('a follow-up without a memory at the provider adds the items of the turn and changes nothing else', () => {
  const frames = FIXTURE_RUNS.find(([name]) => name === 'parallel-stateless.jsonl')?.[1] ?? []
  const { requests } = deriveIndex(frames)
  const [first, second] = requests.all.map((request) => requests.changesOf(request))
  expect(first).toEqual({ kind: 'first' })
  expect(
    second?.kind === 'changed' && second.changes.map(({ kind, path }) => `${kind} ${path}`),
  ).toMatchObject(expect.arrayContaining([expect.stringMatching(/^added input\[\d+\]$/)]))
})
