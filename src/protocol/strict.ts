import { strictEventValidators, strictResponseValidator } from './generated/strict-events.ts'
import type { JsonObject } from './json.ts'
import type { EventErrors, ValidationProfile } from './validation-profile.ts'
import { eventErrors, responseErrors } from './validation-profile.ts'

/** Holds a provider to every word of the Open Responses schema. */
export const strict: ValidationProfile = {
  name: 'strict',
  checkEvent(type, event) {
    const validator = strictEventValidators.get(type)
    return validator === undefined ? extensionErrors(type, event) : eventErrors(validator, event)
  },
  checkResponse(body) {
    return responseErrors(strictResponseValidator, body)
  },
}

// Open Responses, "Extensions": an event of an implementor's own is called `slug:name` and still has its
// place in the sequence.
function extensionErrors(type: string, event: JsonObject): EventErrors | null {
  if (!/^[^\s:]+:[^\s:]+$/.test(type))
    return wrong('type is neither an event of the protocol nor an extension slug:name')
  if (event['type'] !== type) return wrong('type differs from the name of the event')
  const { sequence_number: number } = event
  if (number === undefined) return wrong('sequence_number is missing')
  return Number.isInteger(number) ? null : wrong('sequence_number must be integer')
}

function wrong(error: string): EventErrors {
  return { errors: [error], responseErrors: [] }
}
