import { readProviderError, type ProviderError } from '../protocol/provider-error.ts'
import { isJsonObject, parseJson } from '../protocol/json.ts'
import { shorten } from '../stream/stream-error.ts'
import type { Redactor } from './secrets.ts'
import {
  FINAL_CODES,
  ruleForStatus,
  ruleForTransport,
  STOP_RULES,
  UNKNOWN_RULE,
  type FaultCode,
  type RetryRule,
} from './retry-table.ts'
import type { StopCause } from './watchdog.ts'

/** Why an exchange came to nothing, for the loop and for a person. */
export interface ProviderFault {
  readonly code: FaultCode
  readonly message: string
  /** What the provider itself said, when it said something. */
  readonly provider: ProviderError | null
  readonly isRetryable: boolean
  /** When the provider asked to be tried again, in milliseconds of the wall clock; null: it did not say. */
  readonly retryAt: number | null
  /** The body of an error as it came, cut off at its cap, without secrets; null: there was none. */
  readonly body: string | null
}

/** What messages need to know about where a request went. */
export interface FaultPlace {
  /** Without query and user: those may be secret. */
  readonly url: string
  readonly keyAdvice: string
  readonly redact: Redactor
}

const SAID_MAX = 300

/** One of our own limits ran out, or the caller let go. */
export function stopFault(place: FaultPlace, cause: StopCause, ms: number | null): ProviderFault {
  const rule = STOP_RULES[cause]
  return faultOf(place, rule, `${place.url}: ${rule.says}${ms === null ? '' : ` within ${ms} ms`}`)
}

/** Fetch threw, or the body broke off. */
export function transportFault(place: FaultPlace, error: unknown): ProviderFault {
  const { code, message } = deepest(error)
  const rule = ruleForTransport(code)
  const detail = code === '' || rule === UNKNOWN_RULE ? message : code
  return faultOf(place, rule, `${place.url}: ${rule.says} (${plain(place.redact(detail))})`)
}

/** A head that nothing can be made of, for a reason that the status does not tell. */
export function headFault(place: FaultPlace, status: number, what: string): ProviderFault {
  const rule = ruleForStatus(status)
  return faultOf(place, rule, `${place.url} answered ${plain(place.redact(what))}: ${rule.says}`)
}

/** A status other than success, with what its body says. */
export function statusFault(
  place: FaultPlace,
  answer: { readonly status: number; readonly body: string; readonly retryAt: number | null },
): ProviderFault {
  const { status } = answer
  const body = place.redact(answer.body)
  const provider = errorIn(body, status)
  const rule = finalRule(provider?.code) ?? finalRule(provider?.type) ?? ruleForStatus(status)
  const said = plain(provider?.message ?? titleOf(body))
  const head = `${place.url} answered ${status}${said === '' ? '' : ` (${said})`}: ${rule.says}`
  const fault = faultOf(place, rule, head)
  return {
    ...fault,
    provider,
    retryAt: rule.isRetryable ? answer.retryAt : null,
    body: body === '' ? null : body,
  }
}

// The words are the provider's: `constructor` must not find what every object has.
function finalRule(word: string | null | undefined): RetryRule | null {
  return typeof word === 'string' && Object.hasOwn(FINAL_CODES, word) ? (FINAL_CODES[word] ?? null) : null
}

function faultOf({ keyAdvice }: FaultPlace, rule: RetryRule, head: string): ProviderFault {
  const { code, isRetryable, advice } = rule
  const text = typeof advice === 'object' && advice !== null ? keyAdvice : advice
  const message = text === null ? head : `${head}; ${text}`
  return { code, message, provider: null, isRetryable, retryAt: null, body: null }
}

/** The error in a body, also in one that is plain text; null for a page of HTML and for nothing. */
function errorIn(body: string, status: number): ProviderError | null {
  const parsed = parseJson(body)
  const found = readProviderError(parsed)
  if (found !== null) return { ...found, status: found.status ?? status }
  const text = plain(body)
  if (text === '' || text.startsWith('<') || parsed !== undefined) return null
  return { type: null, code: null, message: text, param: null, status, headers: null }
}

function titleOf(body: string): string {
  return /<title[^>]{0,100}>([^<]{1,200})/iu.exec(body)?.[1] ?? ''
}

/** Text on one line, without what a terminal would take for a command. */
function plain(text: string): string {
  return shorten(
    text
      .slice(0, 4 * SAID_MAX)
      .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ')
      .trim(),
    SAID_MAX,
  )
}

// Fetch hides the reason under its own error, and several addresses hide theirs under one more.
const DEPTH_MAX = 8

function deepest(error: unknown): { readonly code: string; readonly message: string } {
  let code = ''
  let message = ''
  let current: unknown = error
  for (let depth = 0; depth < DEPTH_MAX && isJsonObject(current); depth += 1) {
    // Of Node's fetch, one error has no code of its own.
    const { name, cause, errors } = current
    message = textOr(current['message'], message)
    code = textOr(current['code'], name === 'HTTPParserError' ? 'HPE_INVALID' : code)
    current = cause ?? (Array.isArray(errors) ? errors[0] : null)
  }
  if (/content-encodings/u.test(message)) code = 'TOO_MANY_ENCODINGS'
  return { code, message: message === '' ? String(error) : message }
}

function textOr(value: unknown, fallback: string): string {
  return typeof value === 'string' && value !== '' ? value : fallback
}
