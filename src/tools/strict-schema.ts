import { faultText } from '../protocol/fault-text.ts'
import { isJsonObject, type Json, type JsonObject } from '../protocol/json.ts'
import { acceptsNull, propertiesOf, requiredOf, typesOf } from './schema-node.ts'

/** A schema made strict, or what stands in the way, each with its place. */
export type StrictSchema =
  | { readonly ok: true; readonly schema: JsonObject }
  | { readonly ok: false; readonly faults: readonly string[] }

/**
 * The form of a schema that `strict: true` asks for: every object closed and every property required. A
 * property that was optional takes null instead, which `dropAddedNulls` takes back from what the model sends.
 * `oneOf` becomes `anyOf`; the model's arguments are still checked against the schema as it was written.
 */
export function strictSchema(schema: JsonObject): StrictSchema {
  const walk: Walk = { root: schema, path: [], faults: [] }
  const strict = visit(schema, walk)
  return walk.faults.length > 0 ? { ok: false, faults: walk.faults } : { ok: true, schema: strict }
}

interface Walk {
  readonly root: JsonObject
  /** Where the walk is, in keys of the schema. */
  readonly path: string[]
  readonly faults: string[]
}

// What constrained decoding does not know; a provider answers such a schema with status 400.
const UNSUPPORTED: readonly string[] = [
  'allOf',
  'not',
  'if',
  'then',
  'else',
  'patternProperties',
  'propertyNames',
  'dependencies',
  'dependentRequired',
  'dependentSchemas',
  'unevaluatedProperties',
  'unevaluatedItems',
  'additionalItems',
  'prefixItems',
  'contains',
  '$dynamicRef',
]

const KINDS: readonly string[] = ['type', 'enum', 'const', 'anyOf', 'oneOf', '$ref']

function visit(node: Json | undefined, walk: Walk): JsonObject {
  if (!isJsonObject(node)) return refuse(walk, 'allows any value, say its type')
  for (const keyword of UNSUPPORTED) {
    if (node[keyword] !== undefined) refuse(walk, `uses ${keyword}, which no strict schema can`)
  }
  if (!KINDS.some((kind) => node[kind] !== undefined)) refuse(walk, 'allows any value, say its type')
  const types = typesOf(node)
  if (types.includes('array') && !isJsonObject(node['items'])) refuse(walk, 'is an array without items')
  const strict: Record<string, Json> = {}
  for (const [keyword, value] of Object.entries(node)) {
    if (value === undefined) continue
    strict[keyword === 'oneOf' ? 'anyOf' : keyword] = at(walk, keyword, () =>
      visitKeyword(keyword, value, walk),
    )
  }
  return types.includes('object') ? closeObject(node, strict, walk) : strict
}

function visitKeyword(keyword: string, value: Json, walk: Walk): Json {
  switch (keyword) {
    case 'items':
      return visit(value, walk)
    case 'anyOf':
    case 'oneOf':
      return Array.isArray(value)
        ? value.map((branch: Json, index) => at(walk, String(index), () => visit(branch, walk)))
        : refuse(walk, 'must be an array')
    case '$defs':
    case 'definitions':
      return isJsonObject(value) ? visitEach(value, walk) : refuse(walk, 'must be an object')
    default:
      return value
  }
}

function visitEach(schemas: JsonObject, walk: Walk): JsonObject {
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [name, at(walk, name, () => visit(schema, walk))]),
  )
}

function closeObject(node: JsonObject, strict: JsonObject, walk: Walk): JsonObject {
  const { additionalProperties } = node
  if (additionalProperties !== undefined && additionalProperties !== false) {
    return refuse(walk, 'is an open map: additionalProperties must be false')
  }
  if (!isJsonObject(node['properties'])) {
    return refuse(walk, 'is an object of any form, list its properties')
  }
  const required = requiredOf(node)
  const properties = propertiesOf(node).map(([name, schema]) => {
    const made = at(walk, 'properties', () => at(walk, name, () => visit(schema, walk)))
    const isOptional = !required.includes(name) && !acceptsNull(schema, walk.root)
    return [name, isOptional ? nullable(made) : made] as const
  })
  return {
    ...strict,
    properties: Object.fromEntries(properties),
    required: properties.map(([name]) => name),
    additionalProperties: false,
  }
}

function nullable(schema: JsonObject): JsonObject {
  const { description, ...rest } = schema
  const types = typesOf(schema)
  if (types.length > 0 && schema['const'] === undefined) {
    const values = schema['enum']
    const withNull = { ...schema, type: [...new Set([...types, 'null'])] }
    return Array.isArray(values) ? { ...withNull, enum: [...values, null] } : withNull
  }
  const branches = Array.isArray(schema['anyOf']) ? schema['anyOf'] : [rest]
  return {
    ...(Array.isArray(schema['anyOf']) ? rest : {}),
    anyOf: [...branches, { type: 'null' }],
    ...(description === undefined ? {} : { description }),
  }
}

function at<Made>(walk: Walk, key: string, make: () => Made): Made {
  walk.path.push(key)
  const made = make()
  walk.path.pop()
  return made
}

function refuse(walk: Walk, reason: string): JsonObject {
  walk.faults.push(faultText(walk.path, reason))
  return {}
}
