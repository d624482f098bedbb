import { tolerantEventValidators, tolerantResponseValidator } from './generated/tolerant-events.ts'
import type { ValidationProfile } from './validation-profile.ts'
import { eventErrors, responseErrors } from './validation-profile.ts'

/**
 * Holds a provider to what the reading of a stream rests on and lets pass what providers are known to do
 * differently: no sequence_number, no item_id, other names for an event, items and fields of their own, three
 * shapes of error. An event of an unknown type has nothing wrong with it.
 */
export const tolerant: ValidationProfile = {
  name: 'tolerant',
  checkEvent(type, event) {
    const validator = tolerantEventValidators.get(type)
    return validator === undefined ? null : eventErrors(validator, event)
  },
  checkResponse(body) {
    return responseErrors(tolerantResponseValidator, body)
  },
}
