/** One place where two values differ. */
export interface Difference {
  /** Where, such as `items[0].name`; empty for the values themselves. */
  readonly field: string
  /** What is there; of a long text, what surrounds the first character that differs. */
  readonly expected: unknown
  readonly actual: unknown
}

/** The first place where two JSON values differ, depth first; null when there is none. A key without a value is none. */
export function firstDifference(expected: unknown, actual: unknown, field = ''): Difference | null {
  if (expected === actual) return null
  if (typeof expected === 'string' && typeof actual === 'string')
    return textDifference(expected, actual, field)
  if (!isNode(expected) || !isNode(actual) || Array.isArray(expected) !== Array.isArray(actual)) {
    return { field, expected, actual }
  }
  for (const key of Object.keys(expected)) {
    // Most values are the same, and a name is made only for one that is not.
    if (expected[key] === actual[key]) continue
    const difference = firstDifference(expected[key], actual[key], placeOf(expected, field, key))
    if (difference !== null) return difference
  }
  for (const key of Object.keys(actual)) {
    if (actual[key] === undefined || Object.hasOwn(expected, key)) continue
    return { field: placeOf(expected, field, key), expected: undefined, actual: actual[key] }
  }
  return null
}

function placeOf(parent: object, field: string, key: string): string {
  if (Array.isArray(parent)) return `${field}[${key}]`
  return field === '' ? key : `${field}.${key}`
}

/** An object or a list, by its keys. */
interface Node {
  readonly [key: string]: unknown
}

export function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null
}

const TEXT_MAX = 200
const BEFORE = 60

// The body of a request may be megabytes, of which one character is the news.
function textDifference(expected: string, actual: string, field: string): Difference {
  if (Math.max(expected.length, actual.length) <= TEXT_MAX) return { field, expected, actual }
  let at = 0
  while (expected[at] === actual[at]) at += 1
  const from = Math.max(0, at - BEFORE)
  return { field, expected: excerpt(expected, from), actual: excerpt(actual, from) }
}

function excerpt(text: string, from: number): string {
  const until = from + TEXT_MAX
  return `${from > 0 ? '…' : ''}${text.slice(from, until)}${until < text.length ? '…' : ''}`
}
