import { firstDifference, isNode, type Difference } from './first-difference.ts'

/** Holds a frame against what it should be: what it has beyond that is somebody's own. */
export function frameDifference(
  expected: object,
  actual: object,
  fields: readonly string[] | null,
): Difference | null {
  if (!isNode(expected) || !isNode(actual)) return null
  for (const field of fields ?? Object.keys(expected)) {
    if (expected[field] === actual[field] || NOT_COMPARED.has(field)) continue
    const difference = firstDifference(expected[field], actual[field], field)
    if (difference !== null) return difference
  }
  return null
}

// The first three are held against the frames before; the other two are the clock's.
const NOT_COMPARED: ReadonlySet<string> = new Set(['v', 'run_id', 'seq', 'ts', 'duration_ms'])
