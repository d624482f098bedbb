import type { JsonObject } from './json.ts'
import { isJsonObject } from './json.ts'

/** What a provider said about a failure, whichever way it said it; null where it said nothing. */
export interface ProviderError {
  readonly type: string | null
  readonly code: string | null
  readonly message: string | null
  readonly param: string | null
  /** The HTTP status, when the message itself names one. */
  readonly status: number | null
  /** Headers of the failed request that came inside the message. */
  readonly headers: Readonly<Record<string, string>> | null
}

/**
 * Finds the error in what a provider sent: the body of an HTTP error, an `error` event (nested, flat, or with
 * a status as on a WebSocket), a response or an event with a response that has failed, or the `error` of such
 * a response itself. Null when there is none. Never throws.
 */
export function readProviderError(value: unknown): ProviderError | null {
  try {
    return isJsonObject(value) ? readObject(value) : null
  } catch {
    // Only a value that was not parsed from JSON gets here: a getter or a proxy that throws.
    return null
  }
}

function readObject(value: JsonObject): ProviderError | null {
  const { error, response } = value
  if (typeof error === 'string' && error !== '')
    return { ...nothing, message: error, status: statusOf(value) }
  if (isJsonObject(error)) return readPayload(error, error['type'], statusOf(value))
  // Flat: `type` is that of the event, and the fields of the error stand beside it.
  if (value['type'] === 'error') return readPayload(value, null, null)
  if (isJsonObject(response)) return readObject(response)
  return typeof value['message'] === 'string' ? readPayload(value, value['type'], null) : null
}

function readPayload(payload: JsonObject, type: unknown, status: number | null): ProviderError {
  const { code, message, param, headers } = payload
  return {
    type: textOrNull(type),
    // Some send the HTTP status as code.
    code: typeof code === 'number' ? String(code) : textOrNull(code),
    message: textOrNull(message),
    param: textOrNull(param),
    status: status ?? statusOf(payload) ?? httpStatus(code),
    headers: isJsonObject(headers) ? readHeaders(headers) : null,
  }
}

const nothing: ProviderError = {
  type: null,
  code: null,
  message: null,
  param: null,
  status: null,
  headers: null,
}

// The `status` of a response is a word, that of an error event a number.
function statusOf(value: JsonObject): number | null {
  return httpStatus(value['status'])
}

function httpStatus(value: unknown): number | null {
  return typeof value === 'number' && Number.isInteger(value) && value >= 100 && value <= 599 ? value : null
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}

function readHeaders(headers: JsonObject): Readonly<Record<string, string>> {
  const texts: (readonly [string, string])[] = []
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value === 'string') texts.push([name.toLowerCase(), value])
  }
  return Object.fromEntries(texts)
}
