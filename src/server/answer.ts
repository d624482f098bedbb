import { LoopchartError, type ErrorCode } from '../errors.ts'
import type { Redactor } from '../frames/redactor.ts'
import { RunLockedError } from '../journal/store-error.ts'
import type { Json, JsonObject } from '../protocol/json.ts'
import { RequestRefusal } from './request-refusal.ts'

/** On every answer: nothing of it is kept, framed, sniffed, or told to another site. */
export const BASE_HEADERS: Readonly<Record<string, string>> = {
  'cache-control': 'no-store',
  'content-security-policy':
    "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
}

const STATUS: { readonly [Code in ErrorCode]?: number } = {
  usage: 400,
  request_invalid: 400,
  token_refused: 401,
  scope_missing: 403,
  origin_refused: 403,
  run_unknown: 404,
  route_unknown: 404,
  page_missing: 404,
  method_refused: 405,
  run_exists: 409,
  run_locked: 409,
  resume_refused: 409,
  command_refused: 409,
  cursor_ahead: 409,
  key_reused: 409,
  body_too_large: 413,
  content_type_refused: 415,
  host_refused: 421,
  too_many: 429,
  // Asking again does not make these better.
  log_corrupt: 500,
  log_version: 500,
  store_full: 503,
  store_unusable: 503,
  service_closing: 503,
}

const INTERNAL = { code: 'internal_error', message: 'the request could not be answered' }

/** JSON as it may be seen. */
export function jsonAnswer(redactor: Redactor, value: Json, status = 200): Response {
  return Response.json(redactor.json(value), { status, headers: BASE_HEADERS })
}

/** What is answered when something was thrown. Only what was thrown on purpose is told. */
export function errorAnswer(redactor: Redactor, error: unknown): Response {
  const told = error instanceof LoopchartError && STATUS[error.code] !== undefined ? error : null
  const status = (told === null ? undefined : STATUS[told.code]) ?? 500
  const { code, message } = told ?? INTERNAL
  const body: JsonObject = { error: { code, message }, ...fieldsOf(error) }
  return Response.json(redactor.json(body), {
    status,
    headers: { ...BASE_HEADERS, ...(error instanceof RequestRefusal ? error.headers : {}) },
  })
}

/** Whether the service or the machine below it is at fault, which is worth a line in its log. */
export function isOwnFault(error: unknown): boolean {
  if (!(error instanceof LoopchartError)) return true
  return (STATUS[error.code] ?? 500) >= 500 && error.code !== 'service_closing'
}

function fieldsOf(error: unknown): JsonObject {
  if (error instanceof RequestRefusal) return error.fields
  if (error instanceof RunLockedError) return { owner: { ...error.owner } }
  return {}
}
