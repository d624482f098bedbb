import { expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'

import type { JsonObject } from '../../../src/protocol/json.ts'
import type { StandardSchema } from '../../../src/tools/standard-schema.ts'
import { tool } from '../../../src/tools/tool.ts'
import { runTool } from './run-tool.ts'

const base = { name: 'add', description: 'Add two numbers.', execute: () => 'done' }
const schema = { type: 'object', properties: { a: { type: 'number' } } }

test('the arguments of execute have the type that a zod schema makes', async () => {
  const add = tool({
    ...base,
    inputSchema: z.object({ a: z.number(), b: z.string().transform((text) => text.length) }),
    execute: (args) => {
      expectTypeOf(args).toEqualTypeOf<{ a: number; b: number }>()
      return args.a + args.b
    },
  })
  expect((await runTool(add, { args: '{"a":2,"b":"xyz"}' })).output).toContain('"stdout":"5"')
})

test('the arguments of execute are a JSON object when the schema is raw, under either name', () => {
  expect(tool({ ...base, parameters: schema, execute: (args: JsonObject) => args['a'] }).parameters).toEqual(
    schema,
  )
  const inferred = tool({
    ...base,
    inputSchema: schema,
    execute: (args) => expectTypeOf(args).toEqualTypeOf<JsonObject>(),
  })
  expect(inferred.parameters).toEqual(schema)
})

test('needsApproval and conflicts see the same type as execute', async () => {
  const made = tool({
    ...base,
    inputSchema: z.object({ path: z.string() }),
    needsApproval: (args) => args.path.startsWith('/'),
    conflicts: (args) => [args.path],
    execute: ({ path }) => path,
  })
  const prepared = await made.prepare({ path: '/a' })
  expect(prepared.ok && [prepared.call.needsApproval(), prepared.call.conflicts()]).toEqual([
    { reason: 'tool', isEachTime: false },
    ['/a'],
  ])
})

test('a zod schema is declared as JSON Schema of what the model may send', () => {
  const { parameters } = tool({
    ...base,
    inputSchema: z.object({ a: z.number().describe('First.'), b: z.string().default('x') }),
    execute: () => '',
  })
  expect(parameters).toEqual({
    type: 'object',
    properties: { a: { type: 'number', description: 'First.' }, b: { default: 'x', type: 'string' } },
    required: ['a'],
  })
})

test('a schema of any library that follows Standard Schema will do, also one that is a function', async () => {
  const standard: StandardSchema<{ n: number }>['~standard'] & { jsonSchema: object } = {
    version: 1,
    vendor: 'home',
    validate: async () => ({ value: { n: 7 } }),
    jsonSchema: { input: () => ({ type: 'object', properties: {} }) },
  }
  const made = tool({
    ...base,
    inputSchema: Object.assign(() => null, { '~standard': standard }),
    execute: ({ n }) => n,
  })
  expect((await runTool(made)).output).toContain('"stdout":"7"')
})

test('a schema of a library that gives no JSON Schema is refused with the way out', () => {
  const inputSchema: StandardSchema<object> = {
    '~standard': { version: 1, vendor: 'home', validate: () => ({ value: {} }) },
  }
  expect(() => tool({ ...base, inputSchema })).toThrow(
    'tool add: inputSchema of home gives no JSON Schema, use zod 4.2 or raw JSON Schema',
  )
})

test('a tool has the documented defaults', () => {
  const made = tool({ ...base, inputSchema: schema })
  expect(made).toMatchObject({
    aliases: [],
    strict: false,
    readOnly: false,
    idempotent: false,
    timeoutMs: 120_000,
    maxCalls: null,
    outputEncoding: 'envelope',
    claims: [],
    isEmptyAllowed: true,
  })
})

test('a tool does not change when its schema is changed afterwards', () => {
  const mutable = structuredClone(schema)
  const made = tool({ ...base, inputSchema: mutable })
  mutable.properties.a.type = 'string'
  expect(made.parameters).toEqual(schema)
  expect(Object.isFrozen(made) && Object.isFrozen(made.parameters['properties'])).toBe(true)
})

test.each<readonly [string, object, string]>([
  ['a name with a space', { name: 'a b' }, 'tool name must match ^[a-zA-Z0-9_-]{1,64}$, it is "a b"'],
  ['a name of 65 characters', { name: 'a'.repeat(65) }, 'tool name must match'],
  ['an empty name', { name: '' }, 'tool name must match'],
  ['a name that is no text', { name: 7 }, 'it is number'],
  ['a blank description', { description: ' ' }, 'tool add: description must not be empty'],
  ['no function', { execute: 'x' }, 'execute must be a function'],
  ['no schema', { inputSchema: undefined }, 'inputSchema is missing'],
  ['two schemas', { parameters: schema }, 'parameters is another name of inputSchema'],
  ['an unknown option', { timeout: 3 }, 'there is no option "timeout"'],
  ['a schema of an array', { inputSchema: { type: 'array' } }, 'inputSchema must describe an object'],
  ['a schema without type', { inputSchema: {} }, 'inputSchema must describe an object'],
  ['a zod schema of a text', { inputSchema: z.string() }, 'inputSchema must describe an object'],
  [
    'a zod union',
    { inputSchema: z.union([z.object({}), z.string()]) },
    'inputSchema must describe an object',
  ],
  ['a zod type without JSON form', { inputSchema: z.object({ a: z.bigint() }) }, 'cannot be written as JSON'],
  ['a schema that is no JSON', { inputSchema: { type: 'object', a: () => 1 } }, 'inputSchema is not JSON: a'],
  [
    'a schema that does not compile',
    { inputSchema: { type: 'object', required: 'a' } },
    'is not valid JSON Schema',
  ],
  [
    'a reference to nothing',
    { inputSchema: { type: 'object', properties: { a: { $ref: '#/$defs/b' } } } },
    'is not valid JSON Schema',
  ],
  ['a timeout of 0', { timeoutMs: 0 }, 'timeoutMs must be a number above 0'],
  ['a timeout that is no number', { timeoutMs: '5' }, 'timeoutMs must be a number above 0'],
  ['an endless timeout', { timeoutMs: Infinity }, 'timeoutMs must be a number above 0'],
  ['half a call', { maxCalls: 0.5 }, 'maxCalls must be a whole number above 0'],
  ['an alias with a dot', { aliases: ['a.b'] }, 'aliases must match'],
  ['an alias twice', { aliases: ['b', 'b'] }, 'aliases must match'],
  ['readOnly as text', { readOnly: 'yes' }, 'readOnly must be a boolean'],
  ['needsApproval as text', { needsApproval: 'yes' }, 'needsApproval must be a boolean or a function'],
  ['conflicts as text', { conflicts: 'db' }, 'conflicts must be a list of texts or a function'],
  ['an unknown encoding', { outputEncoding: 'xml' }, "outputEncoding must be 'envelope' or 'raw'"],
  [
    'a claim without its function',
    { claims: ['shell_call'] },
    'claims and claimArguments are given together',
  ],
  [
    'a claim on messages',
    { claims: ['message'], claimArguments: () => ({}) },
    'claims cannot take over items of type message',
  ],
])('a tool with %s is refused at once', (_, options, message) => {
  const wrong = { ...base, inputSchema: schema, ...options } as Parameters<typeof tool>[0]
  expect(() => tool(wrong)).toThrow(expect.objectContaining({ code: 'tool_invalid' }))
  expect(() => tool(wrong)).toThrow(message)
})
