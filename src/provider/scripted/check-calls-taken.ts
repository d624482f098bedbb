import type { CreateResponseBody } from '../../protocol/requests.ts'
import { badRequest, type Refusal } from './refusal.ts'

/**
 * Refuses the calls of earlier runs as gateways did that took `function_call` items only back from the run that made
 * them: a request that goes on by id, or that ends with the output of a call, is such a run's. Null: it may pass.
 */
export function checkCallsTaken({ input, previous_response_id: id }: CreateResponseBody): Refusal | null {
  if (id != null || input == null || typeof input === 'string') return null
  if (input.at(-1)?.type === 'function_call_output') return null
  if (!input.some(({ type }) => type === 'function_call')) return null
  return badRequest('Invalid input', { code: 'invalid_input', param: 'input' })
}
