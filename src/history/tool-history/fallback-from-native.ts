import { isJsonObject } from '../../protocol/json.ts'
import { readProviderError, type ProviderError } from '../../protocol/provider-error.ts'

// Refusals that name the input and would come again with text in place of calls.
const OTHER_CODES: ReadonlySet<string | null> = new Set([
  'context_length_exceeded',
  'previous_response_not_found',
  'string_above_max_length',
  'invalid_encrypted_content',
  'content_policy_violation',
  'model_not_found',
])

/**
 * Whether a refusal may be about calls in the input, so that the same history told as text has a chance: a 400 that
 * speaks of the input. Takes the body of the error, an error that carries it, or what the provider room made of it as
 * `provider`. Decides only; the caller asks `canFallBack` first, records, and sends again once.
 */
export function fallbackFromNative(error: unknown): boolean {
  const said = readProviderError(
    isJsonObject(error) && isJsonObject(error['provider']) ? error['provider'] : error,
  )
  return said !== null && said.status === 400 && !OTHER_CODES.has(said.code) && isAboutInput(said)
}

function isAboutInput({ code, message, param }: ProviderError): boolean {
  if (code === 'invalid_input') return true
  if (/^input(?:$|[.[])/u.test(param ?? '')) return true
  return /\binvalid[ _]input\b|\bfunction[_ ]call/iu.test(message ?? '')
}
