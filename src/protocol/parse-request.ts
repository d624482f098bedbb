import { LoopchartError } from '../errors.ts'
import { describeFault } from './describe-fault.ts'
import { findUnsendable } from './find-unsendable.ts'
import { strictRequestValidator } from './generated/strict-request.ts'
import type { CreateResponseBody } from './requests.ts'

/**
 * Takes what somebody wants to send to POST /responses and gives it back typed. Throws `request_invalid`,
 * naming the first wrong field, when the schema of the protocol does not allow it or JSON cannot carry it.
 */
export function parseRequest(body: unknown): CreateResponseBody {
  let fault: string | null
  try {
    fault = findUnsendable(body)
    if (fault === null && isCreateResponseBody(body)) return body
    fault ??= describeFault(strictRequestValidator).text
  } catch (error) {
    // A getter or a proxy of the caller's threw; nothing above throws by itself.
    throw new LoopchartError('request_invalid', 'request body cannot be read', { cause: error })
  }
  throw new LoopchartError('request_invalid', `request body is not valid: ${fault}`)
}

function isCreateResponseBody(body: unknown): body is CreateResponseBody {
  return strictRequestValidator(body)
}
