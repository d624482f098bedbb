import type { JsonObject } from '../../protocol/json.ts'

/** An answer that is an error: what a client did wrong, or what the script is missing. */
export interface Refusal {
  readonly status: number
  readonly type: string
  readonly code: string | null
  readonly message: string
  readonly param: string | null
}

/** A request that asks for something that cannot be. */
export function badRequest(
  message: string,
  { code = null, param = null }: { readonly code?: string | null; readonly param?: string | null } = {},
): Refusal {
  return { status: 400, type: 'invalid_request_error', code, message, param }
}

/** A chain that hangs on a response that is not there, or not any more. */
export function responseNotFound(id: string): Refusal {
  return badRequest(`Previous response with id '${id.slice(0, 100)}' not found.`, {
    code: 'previous_response_not_found',
    param: 'previous_response_id',
  })
}

/** The body of an error, as providers send it. */
export function errorBody({ message, type, param, code }: Refusal): JsonObject {
  return { error: { message, type, param, code } }
}

const TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found',
  429: 'too_many_requests',
}

/** The error that goes with a status when a script gives no body. */
export function statusRefusal(status: number): Refusal {
  const type = TYPES[status] ?? (status >= 500 ? 'server_error' : 'invalid_request_error')
  return { status, type, code: null, message: `the script answers with status ${status}`, param: null }
}
