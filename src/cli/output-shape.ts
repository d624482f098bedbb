import { isJsonObject, type Json } from '../protocol/json.ts'

const DEPTH_MAX = 6
const ENTRIES_MAX = 50

/**
 * What is in a value without what it says: texts become their lengths, the rest stays as it is named. For the log of a
 * model that nobody knows yet.
 */
export function outputShape(value: unknown, key = '', depth = 0): Json {
  if (typeof value === 'string') return NAMES.has(key) ? value.slice(0, 64) : `text of ${value.length}`
  if (Array.isArray(value)) {
    if (depth >= DEPTH_MAX) return `list of ${value.length}`
    return value.slice(0, ENTRIES_MAX).map((entry: unknown) => outputShape(entry, '', depth + 1))
  }
  if (!isJsonObject(value)) return value === null || value === undefined ? null : typeof value
  const entries = Object.entries(value)
  if (depth >= DEPTH_MAX) return `object of ${entries.length}`
  return Object.fromEntries(
    entries.slice(0, ENTRIES_MAX).map(([name, entry]) => [name, outputShape(entry, name, depth + 1)]),
  )
}

// Words of the protocol: they are what the shape is about.
const NAMES: ReadonlySet<string> = new Set(['type', 'status', 'role', 'phase', 'name', 'object'])
