import type { Json } from '../../src/protocol/json.ts'

/** Array.isArray, which does not narrow a readonly array by itself. */
export function isJsonArray(value: unknown): value is readonly Json[] {
  return Array.isArray(value)
}
