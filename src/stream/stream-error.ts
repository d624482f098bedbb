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

// Ids and types in a message are the provider's, and may be as long as an event.
const MESSAGE_MAX = 300

/** Text with its end cut off where it is too long for a log line. */
export function shorten(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max)}…`
}

export function streamError(
  code: StreamError['code'],
  message: string,
  provider: ProviderError | null = null,
): StreamError {
  return { code, message: shorten(message, MESSAGE_MAX), provider }
}
