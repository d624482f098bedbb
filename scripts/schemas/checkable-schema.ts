// From the document's schemas to schemas that ajv compiles in strict mode and whose first error names the
// real fault. What is valid stays exactly the same; test/unit/validation-profiles.test.ts compares the
// verdicts with those of the untouched document.

import type { Json, JsonObject } from '../../src/protocol/json.ts'
import { isJsonObject } from '../../src/protocol/json.ts'
import { isJsonArray } from './json-array.ts'
import { COMPONENT_PREFIX } from './openapi-document.ts'
import { unionBranches } from './union-branches.ts'
import { unionSchema } from './union-schema.ts'

/**
 * The component schemas by name, without annotations, references pointing into `#/$defs/`, unions made
 * decidable.
 */
export function checkableSchemas(schemas: ReadonlyMap<string, JsonObject>): ReadonlyMap<string, JsonObject> {
  const plain = new Map([...schemas].map(([name, schema]) => [name, withoutAnnotations(schema)]))
  return new Map([...plain].map(([name, schema]) => [name, withDecidableUnions(schema, plain)]))
}

/** What a schema says about which values are valid, and nothing else; references point into `#/$defs/`. */
export function withoutAnnotations(schema: JsonObject): JsonObject {
  const kept: Record<string, Json> = {}
  for (const [keyword, value] of Object.entries(schema)) {
    if (value === undefined || isAnnotation(keyword, value)) continue
    kept[keyword] =
      keyword === '$ref' && typeof value === 'string' ? value.replace(COMPONENT_PREFIX, '#/$defs/') : value
  }
  return withoutEmptyAllOf(mapSubschemas(kept, withoutAnnotations))
}

// A list of what to drop, not of what to keep: an assertion that a later release brings must reach ajv, whose
// strict mode refuses what it does not know, and not vanish here.
function isAnnotation(keyword: string, value: Json): boolean {
  if (keyword.startsWith('x-')) return true
  if (keyword === 'required') return isJsonArray(value) && value.length === 0
  if (keyword === 'additionalProperties') return value === true
  return ['title', 'description', 'default', 'example', 'examples', 'deprecated'].includes(keyword)
}

function withoutEmptyAllOf(schema: JsonObject): JsonObject {
  const { allOf, ...rest } = schema
  if (!isJsonArray(allOf)) return schema
  const members = allOf.filter((member) => !(isJsonObject(member) && Object.keys(member).length === 0))
  const [only] = members
  if (only === undefined) return rest
  const isAlone = members.length === 1 && Object.keys(rest).length === 0
  return isAlone && isJsonObject(only) ? only : { ...rest, allOf: members }
}

function withDecidableUnions(schema: JsonObject, schemas: ReadonlyMap<string, JsonObject>): JsonObject {
  const decide = (subschema: JsonObject): JsonObject => withDecidableUnions(subschema, schemas)
  const branches = unionBranches(schema)
  const decided = branches === null ? null : unionSchema(branches, schemas, decide)
  if (decided !== null) return decided
  // A union that stays one is still correct, only with less precise errors. ajv would refuse its
  // discriminator.
  const { discriminator: _, ...kept } = schema
  return mapSubschemas(kept, decide)
}

const SCHEMAS_BY_NAME: ReadonlySet<string> = new Set(['properties', 'patternProperties', '$defs'])
const SCHEMA_LISTS: ReadonlySet<string> = new Set(['oneOf', 'anyOf', 'allOf', 'prefixItems'])
const SCHEMAS: ReadonlySet<string> = new Set([
  'items',
  'additionalProperties',
  'propertyNames',
  'not',
  'if',
  'then',
  'else',
])

/**
 * Applies a function to each direct subschema. By the position of a schema, never by key alone: `type`,
 * `title`, `format` and `description` are names of properties in this document too.
 */
export function mapSubschemas(schema: JsonObject, map: (subschema: JsonObject) => JsonObject): JsonObject {
  const mapped: Record<string, Json> = {}
  for (const [keyword, value] of Object.entries(schema)) {
    if (value === undefined) continue
    if (SCHEMAS_BY_NAME.has(keyword) && isJsonObject(value)) {
      const entries = Object.entries(value).map(([name, inner]) => [name, mapValue(inner, map)])
      mapped[keyword] = Object.fromEntries(entries)
    } else if (SCHEMA_LISTS.has(keyword) && isJsonArray(value)) {
      mapped[keyword] = value.map((inner) => mapValue(inner, map))
    } else {
      mapped[keyword] = SCHEMAS.has(keyword) ? mapValue(value, map) : value
    }
  }
  return mapped
}

function mapValue(value: Json | undefined, map: (subschema: JsonObject) => JsonObject): Json {
  return isJsonObject(value) ? map(value) : (value ?? {})
}
