import type { ErrorCode } from '../errors.ts'

/** Why an exchange with a provider came to nothing. */
export type FaultCode = Extract<
  ErrorCode,
  | 'connect_failed'
  | 'connect_timeout'
  | 'tls_failed'
  | 'headers_timeout'
  | 'stream_stalled'
  | 'stream_no_progress'
  | 'response_timeout'
  | 'connection_lost'
  | 'redirect_refused'
  | 'response_unreadable'
  | 'key_refused'
  | 'access_refused'
  | 'endpoint_not_found'
  | 'request_refused'
  | 'quota_used_up'
  | 'provider_rate_limited'
  | 'provider_unavailable'
  | 'request_aborted'
  | 'request_failed'
>

/** One line of the table: what it is called, whether sending it again can help, and what a person can do. */
export interface RetryRule {
  readonly code: FaultCode
  readonly isRetryable: boolean
  readonly says: string
  /** `key`: say where the key came from. */
  readonly advice: string | { readonly about: 'key' } | null
}

const never = (code: FaultCode, says: string, advice: RetryRule['advice'] = null): RetryRule => ({
  code,
  isRetryable: false,
  says,
  advice,
})

const again = (code: FaultCode, says: string, advice: RetryRule['advice'] = null): RetryRule => ({
  code,
  isRetryable: true,
  says,
  advice,
})

const CHECK_KEY = { about: 'key' } as const
const CHECK_URL = 'check the base URL'

/** By status; `4xx` and the like for all others of their kind. */
const STATUS_RULES: Readonly<Record<string, RetryRule>> = {
  '2xx': never('response_unreadable', 'that is no response', CHECK_URL),
  '3xx': never(
    'redirect_refused',
    'redirects are not followed, for they would take the key along',
    CHECK_URL,
  ),
  '400': never('request_refused', 'the request was refused'),
  '401': never('key_refused', 'the key was refused', CHECK_KEY),
  '402': never('quota_used_up', 'the account has no credit left', 'look at its billing'),
  '403': never(
    'access_refused',
    'the key may not do this',
    'check what it is allowed, and the name of the model',
  ),
  '404': never('endpoint_not_found', 'nothing is there', 'check the base URL and the name of the model'),
  '405': never('endpoint_not_found', 'nothing takes requests there', CHECK_URL),
  '407': never('access_refused', 'a proxy on the way wants a login', 'check the proxy'),
  '408': again('provider_unavailable', 'it waited too long for the request'),
  '409': again('provider_unavailable', 'another request was in the way'),
  '413': never('request_refused', 'the request is too large', 'send less, or compact the conversation'),
  '422': never('request_refused', 'the request was refused'),
  '429': again('provider_rate_limited', 'too many requests', 'wait, or ask for a higher limit'),
  '4xx': never('request_refused', 'the request was refused'),
  '5xx': again('provider_unavailable', 'the provider has a problem'),
  other: never('response_unreadable', 'that is no status of a response', CHECK_URL),
}

/** Codes in the body that end what the status would let try again. */
export const FINAL_CODES: Readonly<Record<string, RetryRule>> = {
  insufficient_quota: never('quota_used_up', 'the account has no credit left', 'look at its billing'),
  billing_hard_limit_reached: never('quota_used_up', 'the account is at its limit', 'look at its billing'),
}

const UNREACHABLE = again(
  'connect_failed',
  'the host cannot be reached',
  'check the network and the base URL',
)
const LOST = again('connection_lost', 'the connection broke')
const SLOW_CONNECT = again(
  'connect_timeout',
  'no connection came about',
  'check the network and the base URL',
)
const NOT_HTTP = never('response_unreadable', 'what came back is not HTTP', CHECK_URL)
const NO_CERTIFICATE = 'fix the certificate, or trust its issuer with NODE_EXTRA_CA_CERTS'

/** By the code of the error under a failed fetch: exact ones first, then patterns. */
const TRANSPORT_RULES: readonly (readonly [RegExp, RetryRule])[] = [
  [
    /^ECONNREFUSED$/u,
    again('connect_failed', 'nothing listens there', 'check that the server runs, and the base URL'),
  ],
  [/^(?:ENOTFOUND|EAI_AGAIN)$/u, again('connect_failed', 'the host name is not known', CHECK_URL)],
  [/^(?:ENETUNREACH|EHOSTUNREACH|ENETDOWN|EHOSTDOWN|EADDRNOTAVAIL)$/u, UNREACHABLE],
  [/^UND_ERR_CONNECT_TIMEOUT$/u, SLOW_CONNECT],
  [/^ETIMEDOUT$/u, again('connection_lost', 'the network stopped answering')],
  [/^UND_ERR_HEADERS_TIMEOUT$/u, again('headers_timeout', "no answer came within the limit of Node's fetch")],
  [/^UND_ERR_BODY_TIMEOUT$/u, again('stream_stalled', "nothing came within the limit of Node's fetch")],
  [/^(?:ECONNRESET|ECONNABORTED|EPIPE|UND_ERR_SOCKET|UND_ERR_CLOSED|UND_ERR_DESTROYED|HTTP_CUT)$/u, LOST],
  // A compressed body that stops in the middle.
  [/^Z_BUF_ERROR$/u, LOST],
  [/^UND_ERR_RES_CONTENT_LENGTH_MISMATCH$/u, LOST],
  [
    /^(?:HTTP_HEAD_TOO_LARGE|UND_ERR_HEADERS_OVERFLOW)$/u,
    never('response_unreadable', 'its headers are too large', CHECK_URL),
  ],
  [/^(?:HTTP_INVALID|HPE_|UND_ERR_RESPONSE)/u, NOT_HTTP],
  [/^TOO_MANY_ENCODINGS$/u, never('response_unreadable', 'it is compressed too many times over')],
  [/^(?:Z_|ERR_BROTLI|ERR__ERROR|ZSTD_)/u, never('response_unreadable', 'it is not compressed as it says')],
  [
    /^(?:ERR_SSL_WRONG_VERSION_NUMBER|ERR_SSL_PACKET_LENGTH_TOO_LONG)$/u,
    never('tls_failed', 'it does not speak TLS', 'if it is a server of yours, use http:// in the base URL'),
  ],
  [
    /CERT|SIGNATURE|ISSUER|^CRL_|^ERR_TLS/u,
    never('tls_failed', 'its certificate is not to be trusted', NO_CERTIFICATE),
  ],
  [/^(?:ERR_SSL|EPROTO)/u, never('tls_failed', 'no secure connection came about', CHECK_URL)],
]

/** By which of our own limits ran out. */
export const STOP_RULES = {
  aborted: never('request_aborted', 'the caller let go of it'),
  connect: again('connect_timeout', 'no connection came about', 'check the network and the base URL'),
  headers: again('headers_timeout', 'no answer came', 'raise timeouts.headersMs if the model needs longer'),
  idle: again('stream_stalled', 'not a byte came', 'raise timeouts.idleMs if the model needs longer'),
  progress: again(
    'stream_no_progress',
    'bytes came, but no event',
    'raise timeouts.progressMs if the model needs longer',
  ),
  total: again('response_timeout', 'the response did not end', 'raise timeouts.totalMs, or ask for less'),
} as const satisfies Record<string, RetryRule>

/** What no other line names: nothing says that it would go better a second time. */
export const UNKNOWN_RULE: RetryRule = never('request_failed', 'the request could not be sent')

export function ruleForStatus(status: number): RetryRule {
  const rule = STATUS_RULES[status] ?? STATUS_RULES[`${Math.floor(status / 100)}xx`] ?? STATUS_RULES['other']
  return rule ?? UNKNOWN_RULE
}

export function ruleForTransport(code: string): RetryRule {
  return TRANSPORT_RULES.find(([pattern]) => pattern.test(code))?.[1] ?? UNKNOWN_RULE
}
