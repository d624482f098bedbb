import type { JsonObject } from '../../src/protocol/json.ts'

/** The schema that `#/$defs/<name>` names, or the schema itself when it is no reference. */
export function resolveReference(schema: JsonObject, schemas: ReadonlyMap<string, JsonObject>): JsonObject {
  const ref = schema['$ref']
  return typeof ref === 'string' ? (schemas.get(ref.replace('#/$defs/', '')) ?? schema) : schema
}
