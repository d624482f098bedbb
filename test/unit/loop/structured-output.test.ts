import { expect, test } from 'vitest'

import { checkFormat, type FormatCheck } from '../../../src/loop/structured-output.ts'

function isNumber(value: unknown): FormatCheck {
  return typeof value === 'number'
    ? { output: value, fault: null }
    : { output: null, fault: 'it must be number' }
}

test.each<readonly [string, unknown, string | null]>([
  ['5', 5, null],
  [' 5\n', 5, null],
  ['"5"', null, 'it must be number'],
  ['null', null, 'it must be number'],
  ['', null, 'it is empty'],
  ['  ', null, 'it is empty'],
  ['{"a":', null, 'it is not JSON'],
  ['```json\n5\n```', null, 'it is not JSON'],
  ['The answer is 5', null, 'it is not JSON'],
])('the text %j gives %j and the fault %j', async (text, output, fault) => {
  expect(await checkFormat(text, isNumber)).toEqual({ output, fault })
})

test('where no format was asked for, any text is right and gives no value', async () => {
  expect(await checkFormat('5', null)).toEqual({ output: null, fault: null })
  expect(await checkFormat('', null)).toEqual({ output: null, fault: null })
})

test('a value that JSON spells null is an output when the format allows it', async () => {
  expect(await checkFormat('null', () => ({ output: null, fault: null }))).toEqual({
    output: null,
    fault: null,
  })
})

test('a long complaint is cut', async () => {
  const { fault } = await checkFormat('5', () => ({ output: null, fault: 'x'.repeat(10_000) }))
  expect(fault).toHaveLength(500)
})

test('what a check makes of the value is the output', async () => {
  expect(await checkFormat('5', () => ({ output: 'five', fault: null }))).toEqual({
    output: 'five',
    fault: null,
  })
})

test.for<readonly [string, unknown, unknown]>([
  ['a date', { on: new Date(0) }, { on: '1970-01-01T00:00:00.000Z' }],
  ['a map', { by: new Map([[1, 2]]) }, { by: {} }],
  ['a number beyond all', { n: Number.POSITIVE_INFINITY }, { n: null }],
  ['a field that is undefined', { a: 1, b: undefined }, { a: 1 }],
  ['undefined', undefined, null],
])('what a check makes of the value is the output as JSON has it: %s', async ([, made, output]) => {
  expect(await checkFormat('5', () => ({ output: made, fault: null }))).toStrictEqual({ output, fault: null })
})

const circle: Record<string, unknown> = {}
circle['self'] = circle

test.for<readonly [string, unknown, RegExp]>([
  ['a large integer', { cents: 5n }, /^the check failed: .*BigInt/u],
  ['a value within itself', circle, /^the check failed: .*circular/u],
  ['a function', () => 5, /^the check failed: /u],
])('what JSON cannot hold is a fault: %s', async ([, output, fault]) => {
  expect(await checkFormat('5', () => ({ output, fault: null }))).toEqual({
    output: null,
    fault: expect.stringMatching(fault),
  })
})

test('a check that throws is a fault, and so is one that rejects', async () => {
  expect(await checkFormat('5', () => Promise.reject(new Error('late')))).toMatchObject({
    fault: 'the check failed: late',
  })
  expect(await checkFormat('5', brokenCheck)).toEqual({
    output: null,
    fault: 'the check failed: no such rule',
  })
})

function brokenCheck(): FormatCheck {
  throw new Error('no such rule')
}
