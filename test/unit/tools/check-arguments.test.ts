import { expect, test } from 'vitest'
import { z } from 'zod'

import type { JsonObject } from '../../../src/protocol/json.ts'
import { tool, type Tool } from '../../../src/tools/tool.ts'
import { probe } from './run-tool.ts'

function raw(parameters: JsonObject): Tool {
  return tool({ name: 'probe', description: 'Do it.', parameters, execute: (args) => args })
}

async function check(made: Tool, value: JsonObject): Promise<unknown> {
  const prepared = await made.prepare(value)
  const context = {
    signal: AbortSignal.abort(),
    callId: '',
    key: '',
    onOutput: () => {},
    runAgent: () => Promise.reject(new Error()),
  }
  return prepared.ok ? prepared.call.execute(context) : prepared.message
}

const person: JsonObject = {
  type: 'object',
  properties: { name: { type: 'string' }, age: { type: 'integer' }, role: { enum: ['a', 'b'] } },
  required: ['name'],
  additionalProperties: false,
}

test('arguments that match raw JSON Schema reach the tool unchanged', async () => {
  expect(await check(raw(person), { name: 'x', age: 3 })).toEqual({ name: 'x', age: 3 })
})

test('every fault of the arguments is named with its place, without the value', async () => {
  const message = await check(raw(person), { age: 'secret', role: 'secret', extra: 1 })
  expect(message).toBe(
    'name is missing; extra is not a property of this tool; age must be integer; role must be a or b',
  )
})

test('at most five faults are named, and how many more there are', async () => {
  const properties = Object.fromEntries(Array.from({ length: 9 }, (_, n) => [`p${n}`, { type: 'string' }]))
  const made = raw({ type: 'object', properties, required: Object.keys(properties) })
  expect(await check(made, {})).toMatch(/^(p\d is missing; ){5}and 4 more$/)
})

test('nothing is coerced', async () => {
  expect(await check(raw(person), { name: 'x', age: '3' })).toBe('age must be integer')
  expect(await check(raw(person), { name: 5 })).toBe('name must be string')
})

test('a default is filled in where the schema declares one, and the given value stays as it was', async () => {
  const made = raw({
    type: 'object',
    properties: { n: { type: 'number', default: 4 }, m: { type: 'number' } },
  })
  const value = {}
  expect(await check(made, value)).toEqual({ n: 4 })
  expect(value).toEqual({})
})

test('unknown properties pass where the schema does not forbid them', async () => {
  expect(await check(raw({ type: 'object' }), { any: 1 })).toEqual({ any: 1 })
})

test.each<readonly [string, JsonObject]>([
  ['none, tuple of 2020-12', { properties: { t: { type: 'array', prefixItems: [{ type: 'string' }] } } }],
  ['none, tuple of draft-07', { properties: { t: { type: 'array', items: [{ type: 'string' }] } } }],
  [
    'draft-07',
    {
      $schema: 'http://json-schema.org/draft-07/schema#',
      properties: { t: { type: 'array', items: [{ type: 'string' }] } },
    },
  ],
  [
    '2019-09',
    {
      $schema: 'https://json-schema.org/draft/2019-09/schema',
      properties: { t: { type: 'array', items: { type: 'string' } } },
    },
  ],
])('a schema is read in its own version: %s', async (_, schema) => {
  const made = raw({ type: 'object', ...schema })
  expect(await check(made, { t: ['x'] })).toEqual({ t: ['x'] })
  expect(await check(made, { t: [1] })).toBe('t[0] must be string')
})

test('two schemas may use one $id, and refer to themselves by it', async () => {
  const $id = 'https://example.com/arguments'
  for (const type of ['string', 'number']) {
    const made = raw({
      $id,
      type: 'object',
      properties: { a: { $ref: `${$id}#/$defs/a` } },
      $defs: { a: { type } },
    })
    expect(await check(made, { a: true })).toBe(`a must be ${type}`)
  }
})

test('formats and unknown keywords do not stop a schema from being used', async () => {
  const made = raw({ type: 'object', 'x-hint': 1, properties: { mail: { type: 'string', format: 'email' } } })
  expect(await check(made, { mail: 'no mail' })).toEqual({ mail: 'no mail' })
})

test('a large value with a fault in every place gives one fault, not all of them', async () => {
  const made = raw({ type: 'object', properties: { t: { type: 'array', items: { type: 'string' } } } })
  const t = Array.from({ length: 90_000 }, () => 1)
  expect(await check(made, { t })).toBe('t[0] must be string')
})

test('a zod schema is asked asynchronously, and its transformed value is what the tool gets', async () => {
  const made = tool({
    name: 'probe',
    description: 'Do it.',
    inputSchema: z.object({ a: z.string().refine(async (text) => text !== 'no', 'is taken') }),
    execute: (args) => args,
  })
  expect(await check(made, { a: 'yes', b: 1 })).toEqual({ a: 'yes' })
  expect(await check(made, { a: 'no' })).toBe('a is wrong: is taken')
})

test('a check that throws is bad arguments, not a crash', async () => {
  const made = tool({
    name: 'probe',
    description: 'Do it.',
    inputSchema: z.object({
      a: z.string().refine(() => {
        throw new Error('database is gone')
      }),
    }),
    execute: () => '',
  })
  expect(await check(made, { a: 'x' })).toBe('they cannot be checked: database is gone')
})

test('a tool without raw JSON Schema does not need one to be compiled', async () => {
  expect(
    await check(
      probe(() => 'ran'),
      {},
    ),
  ).toBe('ran')
})
