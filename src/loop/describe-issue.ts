import type * as z from 'zod'

import { listed } from '../protocol/describe-fault.ts'
import { faultText } from '../protocol/fault-text.ts'
import { isJsonObject } from '../protocol/json.ts'

/**
 * The first thing that zod found wrong, in the words of this package: the field, and what it must be. With the schema as
 * JSON Schema, numbers are told with their bounds.
 */
export function describeIssue(error: z.ZodError, schema: () => unknown = () => null): string {
  const [issue] = error.issues
  if (issue === undefined) return 'the options are not valid'
  const keys = issue.path.map(String)
  switch (issue.code) {
    case 'unrecognized_keys':
      return faultText([...keys, ...issue.keys.slice(0, 1)], 'is not an option')
    case 'invalid_type':
      return faultText(keys, `must be ${boundsAt(schema(), keys) ?? typeWords(issue.expected)}`)
    case 'invalid_value':
      return faultText(keys, `must be ${listed(issue.values)}`)
    case 'too_small':
      return faultText(keys, tooSmall(issue))
    case 'too_big':
      return faultText(
        keys,
        `must be at most ${issue.maximum}${issue.origin === 'string' ? ' characters' : ''}`,
      )
    case 'invalid_key':
      return faultText(keys.slice(0, -1), issue.issues[0]?.message ?? 'has a key that is not valid')
    case 'custom':
    case 'invalid_format':
      return faultText(keys, issue.message)
    default:
      return faultText(keys, 'is not valid')
  }
}

function tooSmall({ origin, minimum, inclusive }: z.core.$ZodIssueTooSmall): string {
  if (minimum === 1 && (origin === 'string' || origin === 'array')) return 'must not be empty'
  return `must be ${inclusive === false ? 'above' : 'at least'} ${minimum}`
}

const TYPE_WORDS: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'an array',
}

function typeWords(type: string): string {
  return TYPE_WORDS[type] ?? type
}

/** What a number must be where keys lead to one; null where they lead to something else. */
function boundsAt(schema: unknown, keys: readonly string[]): string | null {
  let at = schema
  for (const key of keys) {
    if (!isJsonObject(at)) return null
    const { properties, items } = at
    at = isJsonObject(properties) ? properties[key] : items
  }
  if (!isJsonObject(at) || (at['type'] !== 'integer' && at['type'] !== 'number')) return null
  const noun = at['type'] === 'integer' ? 'a whole number' : 'a number'
  const { minimum, exclusiveMinimum, maximum } = at
  if (typeof exclusiveMinimum === 'number') return `${noun} above ${exclusiveMinimum}`
  if (!isBound(minimum)) return isBound(maximum) ? `${noun}, ${maximum} or less` : noun
  return isBound(maximum) ? `${noun} from ${minimum} to ${maximum}` : `${noun}, ${minimum} or more`
}

// That a whole number must be a safe one is in a schema as bounds, and goes without saying.
function isBound(value: unknown): value is number {
  return typeof value === 'number' && Math.abs(value) < Number.MAX_SAFE_INTEGER
}
