import { Ajv2020 } from 'ajv/dist/2020.js'
import { assert, integer, nat, property } from 'fast-check'
import { expect, test } from 'vitest'

import type { JsonObject } from '../../src/protocol/json.ts'
import { sampleArguments } from '../../src/testing/sample-arguments.ts'

const ajv = new Ajv2020({ strict: false, validateFormats: false })

function object(properties: JsonObject, required = Object.keys(properties)): JsonObject {
  return { type: 'object', properties, required }
}

const SCHEMAS: readonly JsonObject[] = [
  { type: 'object' },
  object({ a: { type: 'string', minLength: 12 }, b: { type: 'string', maxLength: 2 } }),
  object({ a: { type: 'integer', minimum: 7 }, b: { type: 'number', exclusiveMinimum: 7, maximum: 7.5 } }),
  object({ a: { type: 'integer', multipleOf: 5, exclusiveMinimum: 5 }, b: { type: 'integer', maximum: -3 } }),
  object({ a: { type: 'number', minimum: -2, exclusiveMaximum: 0 }, b: { type: ['null', 'string'] } }),
  object({
    a: { enum: ['x', 'y'] },
    b: { const: 3 },
    c: { type: 'string', default: 'd' },
    d: { examples: [4] },
  }),
  object({ a: { type: 'array', items: { type: 'boolean' }, minItems: 2 }, b: { type: 'null' } }),
  object({ a: object({ b: object({ c: { type: 'string' } }) }) }),
  object({ a: { anyOf: [{ type: 'integer' }, { type: 'string' }] }, b: { oneOf: [{ const: 'only' }] } }),
  object({ a: { allOf: [object({ x: { type: 'string' } }), object({ y: { type: 'integer' } })] } }),
  { ...object({ a: { $ref: '#/$defs/a~1b' } }), $defs: { 'a/b': { type: 'integer', minimum: 3 } } },
  object({ a: { type: 'string' } }, []),
]

test.for(SCHEMAS)('made-up arguments fit their schema: %j', (schema) => {
  const made = sampleArguments(schema)
  expect(ajv.validate(schema, made), JSON.stringify(made)).toBe(true)
})

test('a schema that refers to itself has an end', () => {
  const schema = { type: 'object', properties: { a: { $ref: '#' } }, required: ['a'] }
  expect(JSON.stringify(sampleArguments(schema)).length).toBeLessThan(1000)
  expect(sampleArguments({ $ref: '#' })).toEqual({})
})

test('a number within any bounds is found when there is a whole one', () => {
  const isFound = property(integer({ min: -1e6, max: 1e6 }), nat(1000), (minimum, more) => {
    const schema = object({ a: { type: 'integer', minimum, maximum: minimum + more } })
    return ajv.validate(schema, sampleArguments(schema))
  })
  expect(() => assert(isFound, { numRuns: 200 })).not.toThrow()
})
