import type * as z from 'zod'

import { faultText } from '../protocol/fault-text.ts'

/** The first thing that zod found wrong, in the words of this package: the field, and what it must be. */
export function describeIssue(error: z.ZodError): string {
  const [issue] = error.issues
  if (issue === undefined) return 'the options are not valid'
  const keys = issue.path.map(String)
  switch (issue.code) {
    case 'unrecognized_keys':
      return faultText([...keys, ...issue.keys.slice(0, 1)], 'is not an option')
    case 'invalid_type':
      return faultText(keys, `must be ${issue.expected}`)
    case 'invalid_value':
      return faultText(keys, `must be ${issue.values.map(String).join(', ')}`)
    case 'too_small':
      return faultText(keys, `must be at least ${issue.minimum}`)
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
