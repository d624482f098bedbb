import type { JsonObject } from '../../src/protocol/json.ts'
import { isJsonObject } from '../../src/protocol/json.ts'
import { isJsonArray } from './json-array.ts'

/**
 * The branches of a schema that is a union and nothing else, or null. The discriminator does not count: what
 * tells the branches apart is found in the branches themselves.
 */
export function unionBranches(schema: JsonObject): readonly JsonObject[] | null {
  const { discriminator: _, ...kept } = schema
  const branches = kept['oneOf'] ?? kept['anyOf']
  if (!isJsonArray(branches) || Object.keys(kept).length > 1) return null
  return branches.every(isJsonObject) ? branches : null
}
