import { isDeepStrictEqual } from 'node:util'

import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import { ARGUMENT_LIMITS, parseArguments } from '../../../src/tools/parse-arguments.ts'

function messageOf(text: string, rules = {}): string {
  const parsed = parseArguments(text, rules)
  return parsed.ok ? 'ok' : parsed.message
}

test('arguments that are a JSON object come back as its value', () => {
  const text = ' {"a": [1, -0.5e3, "x\\"y", {"a": null}], "b": {"a": true}} '
  expect(parseArguments(text)).toEqual({ ok: true, value: JSON.parse(text) })
})

test.each([
  ['[1]', 'they must be a JSON object, not an array'],
  ['null', 'they must be a JSON object, not null'],
  ['"a"', 'they must be a JSON object, not a string'],
  ['7', 'they must be a JSON object, not a number'],
  ['{a:1}', 'they are not valid JSON: '],
  ['{"a":1', 'they are not valid JSON: '],
  ['{"a":1}}', 'they are not valid JSON: '],
  ["{'a':1}", 'they are not valid JSON: '],
  ['\ufeff{}', 'they begin with a byte order mark'],
  ['{"__proto__":{"x":1}}', 'they use the key "__proto__" or "constructor.prototype"'],
  ['{"a":[{"\\u005f_proto__":1}]}', 'they use the key "__proto__" or "constructor.prototype"'],
  ['{"constructor":{"prototype":{}}}', 'they use the key "__proto__" or "constructor.prototype"'],
  ['{"a":1,"a":2}', 'the key "a" occurs more than once in one object'],
  ['{"a":1,"\\u0061":2}', 'the key "a" occurs more than once in one object'],
  ['{"x":[{"b":{"c":1, "c" : 2}}]}', 'the key "c" occurs more than once in one object'],
  ['{"id":9007199254740993}', 'the number "9007199254740993" cannot be held exactly'],
  ['{"n":1e400}', 'the number "1e400" is too large'],
])('the arguments %s are refused with the reason', (text, message) => {
  expect(messageOf(text)).toContain(message)
})

test.each([
  '{"constructor":"x"}',
  '{"a":{"k":1},"b":{"k":1}}',
  '{"a":["a","a"],"b":"a"}',
  '{"n":9007199254740992}',
])('the arguments %s are no more suspicious than they look', (text) =>
  expect(parseArguments(text)).toEqual({ ok: true, value: JSON.parse(text) }),
)

test('half a surrogate pair is kept', () => {
  expect(parseArguments('{"a":"\\ud800"}')).toEqual({ ok: true, value: { a: '\ud800' } })
})

test('text without a character is {} only where no property is required', () => {
  for (const text of ['', ' \n\t']) {
    expect(parseArguments(text, { isEmptyAllowed: true })).toEqual({ ok: true, value: {} })
    expect(messageOf(text)).toContain('they are empty')
    expect(messageOf(text, { isEmptyAllowed: false })).toContain('they are empty')
  }
})

function sized(bytes: number): string {
  return `{"a":"${'é'.repeat((bytes - 8) / 2)}"}`
}

function deep(depth: number): string {
  return `${'{"a":'.repeat(depth - 1)}{}${'}'.repeat(depth - 1)}`
}

test('arguments at the limit of size, depth and number of values are taken, above it they are not', () => {
  expect(messageOf(sized(ARGUMENT_LIMITS.bytesMax))).toBe('ok')
  expect(messageOf(sized(ARGUMENT_LIMITS.bytesMax + 2))).toBe('they are larger than 8388608 bytes')
  expect(messageOf(deep(64))).toBe('ok')
  expect(messageOf(deep(65))).toBe('they are nested deeper than 64 levels')
  expect(messageOf('{"a":[1,2,3,4]}', { valuesMax: 6 })).toBe('ok')
  expect(messageOf('{"a":[1,2,3,4,5]}', { valuesMax: 6 })).toBe('they hold more than 6 values')
})

test('brackets inside texts are not depth', () => {
  expect(messageOf(JSON.stringify({ a: '[{'.repeat(1000), b: '\\"['.repeat(1000) }))).toBe('ok')
})

test('a message names at most five faults, in at most 1,000 printable characters', () => {
  const key = `\u001b[31m${'k'.repeat(10_000)}`
  const many = Array.from(
    { length: 50 },
    (_, n) => `"${n}":{${JSON.stringify(key)}:1,${JSON.stringify(key)}:2}`,
  )
  const message = messageOf(`{${many.join(',')}}`)
  expect(message.match(/more than once/g)).toHaveLength(5)
  expect(message.length).toBeLessThanOrEqual(1000)
  expect(message).toMatch(/^[\x20-\x7e]*$/)
  expect(messageOf(`{"a": \u001b${'x'.repeat(100_000)}`)).toMatch(/^[\x20-\x7e]{1,1000}$/)
})

test('anything that is not text is refused like the rest', () => {
  expect(parseArguments(null as unknown as string)).toMatchObject({ ok: false })
})

test('50,000 texts of any kind: no throw, no touched prototype, and ok means what JSON.parse means', () => {
  const before = Object.getOwnPropertyNames(Object.prototype).join()
  let taken = 0
  fc.assert(
    fc.property(fuzzedText, (text) => {
      const parsed = parseArguments(text, { isEmptyAllowed: true })
      if (parsed.ok) {
        taken += 1
        const expected: unknown = text.trim() === '' ? {} : JSON.parse(text)
        if (!isDeepStrictEqual(parsed.value, expected)) throw new Error('another value than JSON.parse gives')
      } else {
        const { length } = parsed.message
        if (length === 0 || length > 1000) throw new Error(`a message of ${length} characters`)
      }
    }),
    { numRuns: 50_000, seed: 20_261_116 },
  )
  expect(Object.getOwnPropertyNames(Object.prototype).join()).toBe(before)
  expect(taken).toBeGreaterThan(5_000)
}, 120_000)

const wickedKey = fc.constantFrom('a', 'b', '__proto__', 'constructor', 'prototype', 'toString', '')
const PIECES =
  '{ } [ ] : , " \\ "a" "a": "__proto__": \\u0061 \\ud800 \ufeff 1e400 9007199254740993 -0 - null true NaN \0 // /* ` \n'
const wickedPiece = fc.constantFrom(' ', ...PIECES.split(' '))
const wickedValue = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 5 },
    fc.jsonValue(),
    fc
      .array(fc.tuple(wickedKey, tie('value')), { maxLength: 3 })
      .map(
        (members) => `{${members.map(([key, member]) => `${JSON.stringify(key)}:${textOf(member)}`).join()}}`,
      ),
  ),
})).value

function textOf(value: unknown): string {
  return typeof value === 'string' && value.startsWith('{') ? value : (JSON.stringify(value) ?? 'null')
}

const fuzzedText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.dictionary(wickedKey, fc.jsonValue()).map((value) => JSON.stringify(value)),
  wickedValue.map((value) => textOf(value)),
  fc.array(wickedPiece, { maxLength: 30 }).map((pieces) => pieces.join('')),
  fc
    .tuple(
      fc.object().map((value) => JSON.stringify(value)),
      fc.nat(),
      wickedPiece,
    )
    .map(
      ([text, at, piece]) =>
        text.slice(0, at % (text.length + 1)) + piece + text.slice(at % (text.length + 1)),
    ),
)
