import type { TokenCounter } from './estimate-tokens.ts'
import type { PriorCall } from './prior-call.ts'

/** The tokens of a call's name, arguments and result, counted as one text. */
export function callTokens({ name, argumentsText, result }: PriorCall, count: TokenCounter): number {
  return count(name + argumentsText + result)
}
