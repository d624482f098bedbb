import type { ErrorCode } from '../errors.ts'
import type { ProviderError } from '../protocol/provider-error.ts'

/** Why a response is not usable: a value, not an exception, since it is an ordinary end of a stream. */
export interface StreamError {
  readonly code: Extract<
    ErrorCode,
    | 'malformed_event'
    | 'stream_truncated'
    | 'event_too_large'
    | 'response_too_large'
    | 'protocol_violation'
    | 'response_failed'
  >
  readonly message: string
  /** What the provider itself said, when it said something. */
  readonly provider: ProviderError | null
}

export function streamError(
  code: StreamError['code'],
  message: string,
  provider: ProviderError | null = null,
): StreamError {
  return { code, message, provider }
}
