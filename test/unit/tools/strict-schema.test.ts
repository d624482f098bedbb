import { expect, test } from 'vitest'
import { z } from 'zod'

import { isJsonObject, type Json, type JsonObject } from '../../../src/protocol/json.ts'
import { dropAddedNulls } from '../../../src/tools/drop-added-nulls.ts'
import { strictSchema } from '../../../src/tools/strict-schema.ts'
import { tool } from '../../../src/tools/tool.ts'
import { readEnvelope, runTool } from './run-tool.ts'

const nested: JsonObject = {
  type: 'object',
  properties: {
    path: { type: 'string' },
    mode: { enum: ['r', 'w'], type: 'string' },
    range: {
      type: 'object',
      properties: { from: { type: 'number' }, to: { type: 'number' } },
      required: ['from'],
    },
    tags: { type: 'array', items: { type: 'object', properties: { key: { type: 'string' } } } },
    node: { $ref: '#/$defs/node', description: 'A tree.' },
    kind: {
      oneOf: [{ type: 'object', properties: { a: { const: 1 }, b: { type: 'string' } }, required: ['a'] }],
    },
  },
  required: ['path'],
  $defs: {
    node: {
      type: 'object',
      properties: { next: { $ref: '#/$defs/node' }, value: { type: 'number' } },
      required: ['value'],
    },
  },
}

function strictOf(schema: JsonObject): JsonObject {
  const strict = strictSchema(schema)
  if (!strict.ok) throw new Error(strict.faults.join())
  return strict.schema
}

test('in a strict schema every object is closed and requires all of its properties, at every depth', () => {
  const objects = objectsIn(strictOf(nested))
  expect(objects).toHaveLength(5)
  for (const { properties, required, additionalProperties } of objects) {
    expect(required).toEqual(Object.keys(properties ?? {}))
    expect(additionalProperties).toBe(false)
  }
})

function objectsIn(node: Json | undefined): readonly JsonObject[] {
  if (Array.isArray(node)) return node.flatMap((entry: Json) => objectsIn(entry))
  if (!isJsonObject(node)) return []
  const inner = Object.values(node).flatMap((member) => objectsIn(member))
  const types: Json = node['type'] ?? []
  const isObject = types === 'object' || (Array.isArray(types) && types.includes('object'))
  return isObject ? [node, ...inner] : inner
}

test('an optional property of a strict schema can be null, a required one cannot', () => {
  expect(strictOf(nested)['properties']).toMatchObject({
    path: { type: 'string' },
    mode: { type: ['string', 'null'], enum: ['r', 'w', null] },
    range: { type: ['object', 'null'] },
    node: { anyOf: [{ $ref: '#/$defs/node' }, { type: 'null' }], description: 'A tree.' },
    kind: { anyOf: [{ type: 'object' }, { type: 'null' }] },
  })
})

test('making a strict schema strict changes nothing', () => {
  expect(strictOf(strictOf(nested))).toEqual(strictOf(nested))
})

test.each<readonly [string, JsonObject, string]>([
  ['an open map', { type: 'object', additionalProperties: { type: 'string' } }, 'it is an open map'],
  ['an object of any form', { type: 'object' }, 'it is an object of any form, list its properties'],
  [
    'patternProperties',
    { type: 'object', properties: {}, patternProperties: { '^a': {} } },
    'it uses patternProperties, which no strict schema can',
  ],
  [
    'a property of any type, deep inside',
    { type: 'object', properties: { a: { type: 'array', items: {} } } },
    'properties.a.items allows any value, say its type',
  ],
  [
    'an array without items',
    { type: 'object', properties: { a: { type: 'array' } } },
    'properties.a is an array without items',
  ],
  [
    'allOf',
    { type: 'object', properties: { a: { type: 'string', allOf: [] } } },
    'properties.a uses allOf, which no strict schema can',
  ],
])('%s cannot be made strict, and the reason says where', (_, schema, fault) => {
  expect(strictSchema(schema)).toEqual({ ok: false, faults: [expect.stringContaining(fault)] })
})

test('a tool whose schema cannot be strict is refused with all reasons', () => {
  const inputSchema = z.object({ a: z.record(z.string(), z.string()), b: z.any() })
  const make = (): unknown =>
    tool({ name: 'x', description: 'Do it.', strict: true, inputSchema, execute: () => '' })
  expect(make).toThrow(
    /tool x: inputSchema cannot be strict: .*properties\.a.*; properties\.b allows any value/,
  )
})

test('nulls that strictness added are taken back before the check, others are kept', () => {
  const schema: JsonObject = {
    type: 'object',
    properties: {
      gone: { type: 'string' },
      kept: { type: ['string', 'null'] },
      must: { type: 'string' },
      list: { type: 'array', items: { $ref: '#/$defs/entry' } },
      union: {
        anyOf: [
          { type: 'object', properties: { k: { const: 'x' }, a: { type: 'string' } }, required: ['k'] },
          {
            type: 'object',
            properties: { k: { const: 'y' }, a: { type: ['string', 'null'] } },
            required: ['k'],
          },
        ],
      },
    },
    required: ['must'],
    $defs: { entry: { type: 'object', properties: { e: { type: 'number' } } } },
  }
  const value = { gone: null, kept: null, must: null, list: [{ e: null }, { e: 1 }], other: null }
  expect(dropAddedNulls(schema, value)).toEqual({ kept: null, must: null, list: [{}, { e: 1 }], other: null })
  expect(dropAddedNulls(schema, { union: { k: 'x', a: null } })).toEqual({ union: { k: 'x' } })
  expect(dropAddedNulls(schema, { union: { k: 'y', a: null } })).toEqual({ union: { k: 'y', a: null } })
})

test('a schema that refers to itself in a circle does not keep the check busy', () => {
  const schema: JsonObject = {
    type: 'object',
    properties: { a: { $ref: '#/$defs/a' }, b: { $ref: '#/$defs/b' } },
    $defs: { a: { $ref: '#/$defs/a' }, b: { anyOf: [{ $ref: '#/$defs/b' }] } },
  }
  const value = { a: { x: null }, b: { x: null } }
  expect(dropAddedNulls(schema, value)).toEqual(value)
})

test('a strict tool with an optional zod property takes null from the model as not given', async () => {
  const made = tool({
    name: 'greet',
    description: 'Greet a person.',
    strict: true,
    inputSchema: z.object({ name: z.string().optional(), times: z.number().default(2) }),
    execute: (args) => args,
  })
  const { output } = await runTool(made, { args: '{"name":null,"times":null}' })
  expect(readEnvelope(output).stdout).toBe('{"times":2}')
})
