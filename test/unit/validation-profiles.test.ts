import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, test } from 'vitest'

import type { CompiledValidator } from '../../src/protocol/compiled-validator.ts'
import { isEventType } from '../../src/protocol/events.ts'
import { EVENT_TYPES } from '../../src/protocol/generated/event-types.ts'
import {
  strictCompactionValidator,
  strictEventValidators,
  strictResponseValidator,
} from '../../src/protocol/generated/strict-events.ts'
import {
  strictCompactRequestValidator,
  strictRequestValidator,
} from '../../src/protocol/generated/strict-request.ts'
import type { Json, JsonObject } from '../../src/protocol/json.ts'
import { strict } from '../../src/protocol/strict.ts'
import { tolerant } from '../../src/protocol/tolerant.ts'
import { mutate, pathsOf, seeded, withValue } from '../mutate.ts'
import { eventSchemaName, readDocument, sampleEvent, sampleSchema } from '../sample-event.ts'

const plainAjv = new Ajv2020({ strict: false, logger: false }).addSchema(readDocument(), 'document')

function isValidByDocument(name: string, value: unknown): boolean {
  const validate = plainAjv.getSchema(`document#/components/schemas/${name}`)
  if (validate === undefined) throw new Error(`no schema ${name}`)
  return validate(value) === true
}

function at(value: Json | undefined, path: readonly (string | number)[]): Json | undefined {
  return path.reduce<Json | undefined>((inner, key) => (inner as JsonObject)[key], value)
}

describe.each(EVENT_TYPES)('%s', (type) => {
  test('a minimal and a full event pass both profiles', () => {
    for (const event of [sampleEvent(type), sampleSchema(eventSchemaName(type), { full: true })]) {
      expect(isValidByDocument(eventSchemaName(type), event)).toBe(true)
      expect(strict.checkEvent(type, event)).toBeNull()
      expect(tolerant.checkEvent(type, event)).toBeNull()
    }
  })

  test('strict notices each required field that is missing', () => {
    const event = sampleEvent(type)
    const paths = pathsOf(event, 2)
    const unnoticed = paths.filter(
      (path) => strict.checkEvent(type, withValue(event, path, undefined) as JsonObject) === null,
    )
    expect(paths.length).toBeGreaterThanOrEqual(3)
    expect(unnoticed).toEqual([])
  })

  test('strict notices each field of a wrong type', () => {
    const event = sampleEvent(type)
    const unnoticed = pathsOf(event, 2)
      .filter((path) => {
        const wrong = typeof at(event, path) === 'number' ? 'text' : 42
        return strict.checkEvent(type, withValue(event, path, wrong) as JsonObject) === null
      })
      .map((path) => path.join('.'))
    // The document says nothing about what metadata is.
    expect(unnoticed).toEqual('response' in event ? ['response.metadata'] : [])
  })
})

interface Verdicts {
  readonly valid: number
  readonly invalid: number
  readonly disagreements: readonly JsonObject[]
}

/** Compares a precompiled validator with plain ajv on the untouched document. */
function compareVerdicts(name: string, validator: CompiledValidator, count: number, seed: number): Verdicts {
  const choose = seeded(seed)
  const disagreements: JsonObject[] = []
  let valid = 0
  for (let index = 0; index < count; index += 1) {
    const mutant = mutate(sampleSchema(name, { full: choose(4) > 0, choose }), choose)
    const expected = isValidByDocument(name, mutant)
    if (expected) valid += 1
    if (validator(mutant) !== expected) disagreements.push(mutant)
  }
  return { valid, invalid: count - valid, disagreements }
}

test('strict and plain ajv on the untouched document agree on 7,200 mutated events', () => {
  let valid = 0
  let invalid = 0
  for (const [index, [type, validator]] of [...strictEventValidators].entries()) {
    const verdicts = compareVerdicts(eventSchemaName(type), validator, 300, 2026 + index)
    expect(verdicts.disagreements).toEqual([])
    valid += verdicts.valid
    invalid += verdicts.invalid
  }
  expect(valid + invalid).toBe(7200)
  expect(Math.min(valid, invalid)).toBeGreaterThan(1000)
})

test.each([
  ['CreateResponseBody', strictRequestValidator, 6000],
  ['CompactResponseMethodPublicBody', strictCompactRequestValidator, 2000],
  ['ResponseResource', strictResponseValidator, 2000],
  ['CompactResource', strictCompactionValidator, 2000],
])(
  'the precompiled %s and plain ajv on the untouched document agree on mutants',
  (name, validator, count) => {
    const { disagreements, valid, invalid } = compareVerdicts(name, validator, count, 415)
    expect(disagreements).toEqual([])
    expect(Math.min(valid, invalid)).toBeGreaterThan(count / 10)
  },
)

test('the 24 types of the document are the event types, and a name of a provider is not', () => {
  expect(EVENT_TYPES).toHaveLength(24)
  expect(EVENT_TYPES.every(isEventType)).toBe(true)
  expect([...strictEventValidators.keys()]).toEqual([...EVENT_TYPES])
  expect(isEventType('keepalive')).toBe(false)
  expect(isEventType('response.reasoning_text.delta')).toBe(false)
})

test.each(EVENT_TYPES)('%s of 2026-01-15 with logprobs is valid under the newest document', (type) => {
  const event = sampleSchema(eventSchemaName(type), { version: '2026-01-15', full: true })
  expect(strict.checkEvent(type, event)).toBeNull()
})

test('a wrong field is named by its path', () => {
  const delta = { ...sampleEvent('response.output_text.delta'), output_index: 'x' }
  expect(strict.checkEvent('response.output_text.delta', delta)).toEqual({
    errors: ['output_index must be integer'],
    responseErrors: [],
  })
})

test('a missing field is named, not only the object around it', () => {
  const { item_id: _, ...delta } = sampleEvent('response.output_text.delta')
  expect(strict.checkEvent('response.output_text.delta', delta)?.errors).toEqual(['item_id is missing'])
})

test('an error inside the response is a response error with the path to it', () => {
  const created = withValue(
    sampleEvent('response.created'),
    ['response', 'output'],
    [{ type: 42 }],
  ) as JsonObject
  expect(strict.checkEvent('response.created', created)).toEqual({
    errors: [],
    responseErrors: ['response.output[0].type must be string'],
  })
  expect(tolerant.checkEvent('response.created', created)).toEqual({
    errors: [],
    responseErrors: ['response.output[0].type must be string'],
  })
})

test('a response that is no object is a response error, one that is missing an error of the event', () => {
  const created = sampleEvent('response.created')
  expect(strict.checkEvent('response.created', { ...created, response: 42 })).toEqual({
    errors: [],
    responseErrors: ['response must be object'],
  })
  const { response: _, ...without } = created
  expect(strict.checkEvent('response.created', without)?.errors).toEqual(['response is missing'])
})

test('an unknown item type is answered with the types that exist', () => {
  const added = { ...sampleEvent('response.output_item.added'), item: { type: 'web_search_call', id: 'ws' } }
  expect(strict.checkEvent('response.output_item.added', added)?.errors).toEqual([
    'item.type must be message, function_call, function_call_output, reasoning or compaction',
  ])
})

test('an error never repeats a value and is at most 300 printable characters long', () => {
  const headers = { [`\u001B[2J${'\u{1F600}'.repeat(400)}`]: 42 }
  const event = {
    ...sampleEvent('error'),
    error: { type: 'x', code: null, message: 'm', param: null, headers },
  }
  const [text = ''] = strict.checkEvent('error', event)?.errors ?? []
  expect(text).toMatch(/^error\.headers\["\\u001b\[2J[\u0020-\u007E]* must be string$/)
  expect(text.length).toBeLessThanOrEqual(300)
  const secret = { ...sampleEvent('response.output_text.delta'), type: 'secret' }
  expect(strict.checkEvent('response.output_text.delta', secret)?.errors.join()).not.toContain('secret')
})

test('strict refuses a type that is neither of the protocol nor an extension', () => {
  const errors = strict.checkEvent('keepalive', { type: 'keepalive', sequence_number: 3 })?.errors
  expect(errors).toEqual(['type is neither an event of the protocol nor an extension slug:name'])
})

test('strict lets an extension pass that has its place in the sequence, and no other', () => {
  const type = 'acme:progress'
  expect(strict.checkEvent(type, { type, sequence_number: 3, percent: 50 })).toBeNull()
  expect(strict.checkEvent(type, { type })?.errors).toEqual(['sequence_number is missing'])
  expect(strict.checkEvent(type, { type, sequence_number: 1.5 })?.errors).toEqual([
    'sequence_number must be integer',
  ])
})

test('a whole response is checked by both profiles', () => {
  const response = sampleSchema('ResponseResource', { full: true })
  expect(strict.checkResponse(response)).toEqual([])
  expect(tolerant.checkResponse(response)).toEqual([])
  const { store: _, ...older } = response
  expect(strict.checkResponse(older)).toEqual(['store is missing'])
  expect(tolerant.checkResponse(older)).toEqual([])
  expect(tolerant.checkResponse({ ...response, output: [{ id: 'x' }] })).toEqual([
    'output[0].type is missing',
  ])
})

const index = { output_index: 0, content_index: 0 }
const call = { type: 'function_call', call_id: 'call_1', name: 'add', arguments: '{}' }

test.each<readonly [string, string, JsonObject]>([
  [
    'an event without a sequence_number',
    'response.output_text.delta',
    { ...index, item_id: 'm', delta: 'x' },
  ],
  ['an event without an item_id', 'response.output_text.delta', { ...index, sequence_number: 1, delta: 'x' }],
  ['an item_id that is null', 'response.output_text.delta', { ...index, item_id: null, delta: 'x' }],
  ['an event whose type is missing', 'response.refusal.delta', { ...index, delta: 'x' }],
  ['reasoning_text.delta', 'response.reasoning_text.delta', { ...index, delta: 'x' }],
  ['reasoning_text.done', 'response.reasoning_text.done', { ...index, text: 'x' }],
  ['reasoning_part.added', 'response.reasoning_part.added', { ...index, part: { type: 'reasoning_text' } }],
  ['reasoning_part.done', 'response.reasoning_part.done', { ...index, part: { type: 'reasoning_text' } }],
  ['response.done as the end', 'response.done', { response: { id: 'r', status: 'completed', output: [] } }],
  ['a response that lacks most of its fields', 'response.created', { response: { id: 'r' } }],
  [
    'a status nobody has listed',
    'response.completed',
    { response: { status: 'cancelled', temperature: null } },
  ],
  [
    'a response with hosted items',
    'response.completed',
    { response: { output: [{ type: 'web_search_call' }] } },
  ],
  ['an item that is null', 'response.output_item.done', { output_index: 0, item: null }],
  ['a call without an id and a status', 'response.output_item.done', { output_index: 0, item: call }],
  [
    'a call whose arguments come later',
    'response.output_item.added',
    { output_index: 0, item: { ...call, arguments: '' } },
  ],
  ['a part of an unknown type', 'response.content_part.added', { ...index, part: { type: 'audio' } }],
  ['logprobs of another shape', 'response.output_text.delta', { ...index, delta: 'x', logprobs: null }],
  [
    'an annotation of an unknown type',
    'response.output_text.annotation.added',
    { ...index, annotation_index: 0, annotation: { type: 'file_citation' } },
  ],
  ['a nested error', 'error', { error: { message: 'no', type: 'server_error' } }],
  ['a flat error', 'error', { code: null, message: 'no', param: null }],
  ['an error with a status as on a WebSocket', 'error', { status: 400, error: { code: 'x', message: 'no' } }],
  ['an error that is only a text', 'error', { error: 'no' }],
  ['an event of an unknown type', 'keepalive', { anything: [1] }],
])('tolerant lets pass %s', (_, type, event) => {
  expect(tolerant.checkEvent(type, event)).toBeNull()
})

test.each<readonly [string, string, JsonObject, string]>([
  ['a delta that is a number', 'response.output_text.delta', { ...index, delta: 42 }, 'delta must be string'],
  ['a delta that is missing', 'response.output_text.delta', { ...index }, 'delta is missing'],
  [
    'a delta under an alias',
    'response.reasoning_text.delta',
    { ...index, delta: null },
    'delta must be string',
  ],
  [
    'an index that is missing',
    'response.function_call_arguments.delta',
    { delta: '' },
    'output_index is missing',
  ],
  [
    'an index that is a fraction',
    'response.output_text.done',
    { ...index, content_index: 0.5, text: '' },
    'content_index must be integer',
  ],
  [
    'arguments that are an object',
    'response.function_call_arguments.done',
    { output_index: 0, arguments: {} },
    'arguments must be string',
  ],
  [
    'a sequence_number that is a text',
    'response.output_text.delta',
    { ...index, delta: '', sequence_number: '1' },
    'sequence_number must be integer',
  ],
  [
    'an item_id that is a number',
    'response.output_text.delta',
    { ...index, delta: '', item_id: 1 },
    'item_id must be string or null',
  ],
  [
    'an item that is a number',
    'response.output_item.added',
    { output_index: 0, item: 42 },
    'item must be object or null',
  ],
  [
    'an item without a type',
    'response.output_item.added',
    { output_index: 0, item: { id: 'x' } },
    'item.type is missing',
  ],
  [
    'a call without a call_id',
    'response.output_item.done',
    { output_index: 0, item: { ...call, call_id: undefined } },
    'item.call_id is missing',
  ],
  [
    'a call whose name is null',
    'response.output_item.done',
    { output_index: 0, item: { ...call, name: null } },
    'item.name must be string',
  ],
  [
    'a call whose arguments are an object',
    'response.output_item.done',
    { output_index: 0, item: { ...call, arguments: {} } },
    'item.arguments must be string',
  ],
  ['a part without a type', 'response.content_part.added', { ...index, part: {} }, 'part.type is missing'],
  ['an error with nothing in it', 'error', { sequence_number: 1 }, 'message is missing'],
  ['an error that is a number', 'error', { error: 500 }, 'error must be object or string'],
])('tolerant notices %s', (_, type, event, error) => {
  expect(tolerant.checkEvent(type, event)).toEqual({ errors: [error], responseErrors: [] })
})

test.each<readonly [string, JsonObject, string]>([
  ['an output that is no array', { output: {} }, 'response.output must be array'],
  ['a call without a name', { output: [{ ...call, name: undefined }] }, 'response.output[0].name is missing'],
  ['a status that is no text', { status: 3 }, 'response.status must be string'],
  ['an error that is a text', { error: 'no' }, 'response.error must be object or null'],
  ['a usage that is a number', { usage: 3 }, 'response.usage must be object or null'],
  ['an id that is a number', { id: 3 }, 'response.id must be string'],
])('tolerant notices in a response %s', (_, response, error) => {
  expect(tolerant.checkEvent('response.completed', { response })).toEqual({
    errors: [],
    responseErrors: [error],
  })
})

test.each([
  ['response.reasoning_text.delta', 'response.reasoning.delta'],
  ['response.reasoning_text.done', 'response.reasoning.done'],
  ['response.reasoning_part.added', 'response.content_part.added'],
  ['response.reasoning_part.done', 'response.content_part.done'],
  ['response.done', 'response.completed'],
])('tolerant asks of %s what it asks of %s', (alias, type) => {
  const expected = tolerant.checkEvent(type, {})
  expect(expected).not.toBeNull()
  expect(tolerant.checkEvent(alias, {})).toEqual(expected)
})
