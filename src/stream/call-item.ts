import type { JsonObject } from '../protocol/json.ts'

/** Whether the arguments of an item or event are text, or not there at all. */
export function hasTextArguments(item: JsonObject | null): boolean {
  const value = item?.['arguments']
  return value === undefined || value === null || typeof value === 'string'
}

/**
 * Whether an item says that it did not come to its end. One that says `in_progress` has been seen in responses that
 * completed; any other word means that it did not.
 */
export function isCutShort(item: JsonObject | null): boolean {
  const status = item?.['status'] ?? 'completed'
  return status !== 'completed' && status !== 'in_progress'
}
