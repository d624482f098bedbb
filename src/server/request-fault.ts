import { z } from 'zod'

import { describeIssue } from '../loop/describe-issue.ts'
import { faultText } from '../protocol/fault-text.ts'

/**
 * What is wrong with a part of a request: a field that is missing and one that nobody knows, which may be the same with a
 * letter too few, or else the first that must be otherwise.
 */
export function requestFault(error: z.ZodError, schema: z.ZodType, value: unknown): string {
  const { issues } = error
  const missing = issues.find(({ path }) => path.length > 0 && at(value, path) === undefined)
  const unknown = issues.find(({ code }) => code === 'unrecognized_keys')
  const told = [
    ...(missing === undefined ? [] : [faultText(missing.path.map(String), 'is missing')]),
    ...(unknown?.code === 'unrecognized_keys' ? [unknownKey(unknown)] : []),
  ]
  if (told.length > 0) return told.join('; ')
  const [first] = issues
  // What a union must be is said where it is made: none of its ways is the one that was meant.
  if (first?.code === 'invalid_union') return faultText(first.path.map(String), first.message)
  return describeIssue(error, () => z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }))
}

function at(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (within, key) => (Object.hasOwn(Object(within), key) ? Object(within)[key] : undefined),
    value,
  )
}

function unknownKey({ path, keys }: z.core.$ZodIssueUnrecognizedKeys): string {
  return faultText([...path.map(String), ...keys.slice(0, 1)], 'is not known')
}
