import type { CompiledValidator } from './compiled-validator.ts'
import { describeFault } from './describe-fault.ts'
import type { JsonObject } from './json.ts'

/** What is wrong with an event; at least one of the two lists has an entry. */
export interface EventErrors {
  /** About the event itself. */
  readonly errors: readonly string[]
  /** About the response that it carries. */
  readonly responseErrors: readonly string[]
}

/** How closely what a provider sends is held to the protocol. Checking never changes and never throws. */
export interface ValidationProfile {
  readonly name: 'strict' | 'tolerant'
  /** Checks an event as one of `type`; null: nothing is wrong. */
  checkEvent(type: string, event: JsonObject): EventErrors | null
  /** Checks the body of a response that was not streamed; empty: nothing is wrong. */
  checkResponse(body: JsonObject): readonly string[]
}

/**
 * Runs the validator of an event. Allocates nothing when all is well: this is done for every event of a
 * stream.
 */
export function eventErrors(validator: CompiledValidator, event: JsonObject): EventErrors | null {
  if (validator(event)) return null
  const { pointer, text } = describeFault(validator)
  const inResponse = pointer === '/response' || pointer.startsWith('/response/')
  return inResponse ? { errors: [], responseErrors: [text] } : { errors: [text], responseErrors: [] }
}

/** Runs the validator of a whole response. */
export function responseErrors(validator: CompiledValidator, body: JsonObject): readonly string[] {
  return validator(body) ? [] : [describeFault(validator).text]
}
