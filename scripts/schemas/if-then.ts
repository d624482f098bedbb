import type { JsonObject } from '../../src/protocol/json.ts'

/** The schema keywords if, then and, if there is anything to say, else. */
export function ifThen(
  condition: JsonObject,
  consequence: JsonObject,
  otherwise: JsonObject = {},
): JsonObject {
  // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema, in an object that nobody awaits
  const schema = { if: condition, then: consequence }
  return Object.keys(otherwise).length > 0 ? { ...schema, else: otherwise } : schema
}
