import { describeFault } from '../../protocol/describe-fault.ts'
import { findUnsendable } from '../../protocol/find-unsendable.ts'
import type { CompactResponseMethodPublicBody } from '../../protocol/generated/openresponses.ts'
import { strictCompactRequestValidator } from '../../protocol/generated/strict-request.ts'
import type { JsonObject } from '../../protocol/json.ts'
import { acceptedBody, type Accepted } from './read-request.ts'
import { badRequest, type Refusal } from './refusal.ts'

/** Holds the body of a compaction to the protocol, and to having something to make shorter. */
export function readCompactRequest(body: JsonObject): Accepted<CompactResponseMethodPublicBody> | Refusal {
  const accepted: unknown = acceptedBody(body)
  const fault = findUnsendable(accepted)
  if (fault !== null || !isCompactBody(accepted)) {
    const text = fault ?? describeFault(strictCompactRequestValidator).text
    return badRequest(`request body is not valid: ${text}`, { code: 'invalid_request' })
  }
  const { input, previous_response_id: previousId } = accepted
  const isEmpty = (input ?? '').length === 0 && previousId == null
  return isEmpty ? badRequest('There is nothing to compact.', { param: 'input' }) : { request: accepted }
}

function isCompactBody(body: unknown): body is CompactResponseMethodPublicBody {
  return strictCompactRequestValidator(body)
}
