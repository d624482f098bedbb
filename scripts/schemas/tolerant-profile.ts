// What real providers send, derived by rule from the strict document: the few fields that the reading of a
// stream rests on are held to their types, everything else may be missing, null or of a shape nobody has seen
// yet.

import type { Json, JsonObject } from '../../src/protocol/json.ts'
import { isJsonObject } from '../../src/protocol/json.ts'
import { checkableSchemas } from './checkable-schema.ts'
import { ifThen } from './if-then.ts'
import { isJsonArray } from './json-array.ts'
import type { OpenApiDocument } from './openapi-document.ts'
import { Refusal } from './refusal.ts'

/** Event types that providers use for an event the document knows under another name. */
const EVENT_ALIASES: Readonly<Record<string, string>> = {
  'response.reasoning_text.delta': 'response.reasoning.delta',
  'response.reasoning_text.done': 'response.reasoning.done',
  'response.reasoning_part.added': 'response.content_part.added',
  'response.reasoning_part.done': 'response.content_part.done',
  'response.done': 'response.completed',
}

/** The tolerant schemas. */
export interface TolerantProfile {
  /** By name, for `#/$defs/`. */
  readonly schemas: ReadonlyMap<string, JsonObject>
  /** Event type, aliases included, to the name of its schema. */
  readonly events: ReadonlyMap<string, string>
}

/** The name of the tolerant schema of a whole response. */
export const ANY_RESPONSE = 'AnyResponse'

/** Derives the tolerant profile of a document. */
export function tolerantProfile(document: OpenApiDocument): TolerantProfile {
  const strict = checkableSchemas(document.schemas)
  const schemas = new Map<string, JsonObject>([
    [ANY_RESPONSE, anyResponse],
    ['AnyItem', anyItem],
    ['AnyPart', { type: 'object', properties: { type: { type: 'string' } }, required: ['type'] }],
  ])
  const events = new Map<string, string>()
  // Without their type many events look the same; one validator then serves them all.
  const known = new Map<string, string>()
  for (const { name, type } of document.events) {
    const schema = type === 'error' ? errorEvent : tolerantEvent(strict.get(name) ?? {})
    const text = JSON.stringify(schema)
    if (!known.has(text)) {
      known.set(text, name)
      schemas.set(name, schema)
    }
    events.set(type, known.get(text) ?? name)
  }
  for (const [alias, type] of Object.entries(EVENT_ALIASES)) {
    const name = events.get(type)
    if (name === undefined) throw new Refusal(`no event ${type} in the document: adapt tolerant-profile.ts`)
    events.set(alias, name)
  }
  return { schemas, events }
}

const anyResponse: JsonObject = {
  type: 'object',
  properties: {
    id: { type: 'string' },
    status: { type: 'string' },
    output: { type: 'array', items: { $ref: '#/$defs/AnyItem' } },
    error: { type: ['object', 'null'] },
    usage: { type: ['object', 'null'] },
  },
}

// A call is the one item that makes us act, so what identifies it must be there. Its arguments come by events
// too.
const anyItem: JsonObject = {
  type: 'object',
  properties: { type: { type: 'string' } },
  required: ['type'],
  ...ifThen(
    { required: ['type'], properties: { type: { enum: ['function_call'] } } },
    {
      properties: { call_id: { type: 'string' }, name: { type: 'string' }, arguments: { type: 'string' } },
      required: ['call_id', 'name'],
    },
  ),
}

// Nested as the document says, with a `status` on a WebSocket, or flat as OpenAI documents it.
const errorEvent: JsonObject = {
  type: 'object',
  properties: { sequence_number: { type: 'integer' }, status: { type: ['integer', 'null'] } },
  ...ifThen(
    { required: ['error'], properties: { error: true } },
    {
      properties: {
        error: {
          type: ['object', 'string'],
          ...ifThen({ type: 'object' }, { properties: { message: { type: ['string', 'null'] } } }),
        },
      },
    },
    {
      properties: {
        message: { type: 'string' },
        code: { type: ['string', 'number', 'null'] },
        param: { type: ['string', 'null'] },
      },
      required: ['message'],
    },
  ),
}

function tolerantEvent(strict: JsonObject): JsonObject {
  const properties: Record<string, Json> = {}
  const required: string[] = []
  const strictlyRequired = isJsonArray(strict['required']) ? strict['required'] : []
  for (const [name, schema] of Object.entries(
    isJsonObject(strict['properties']) ? strict['properties'] : {},
  )) {
    const rule = isJsonObject(schema) ? tolerantField(name, schema) : null
    if (rule === null || !strictlyRequired.includes(name)) continue
    properties[name] = rule.schema
    if (rule.required) required.push(name)
  }
  return { type: 'object', properties, required }
}

interface FieldRule {
  readonly schema: JsonObject
  readonly required: boolean
}

/** What is asked of a field that the document requires; null: nothing. */
function tolerantField(name: string, strict: JsonObject): FieldRule | null {
  if (name === 'type') return null
  if (name === 'sequence_number') return { schema: { type: 'integer' }, required: false }
  if (name === 'item_id') return { schema: { type: ['string', 'null'] }, required: false }
  if (name === 'response') return { schema: { $ref: '#/$defs/AnyResponse' }, required: true }
  if (name === 'part') return { schema: { $ref: '#/$defs/AnyPart' }, required: true }
  if (name === 'item') {
    const item = { type: ['object', 'null'], ...ifThen({ type: 'object' }, { $ref: '#/$defs/AnyItem' }) }
    return { schema: item, required: true }
  }
  const { type } = strict
  return type === 'string' || type === 'integer' ? { schema: { type }, required: true } : null
}
