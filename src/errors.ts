/** Every code that loopchart puts on an error; docs/errors.md says what each means and what to do. */
export const ERROR_CODES = [
  'usage',
  'file_unreadable',
  'output_unwritable',
  'config_invalid',
  'provider_missing',
  'request_invalid',
  'agent_invalid',
  'frame_invalid',
  'frame_version_unknown',
  'malformed_event',
  'stream_truncated',
  'event_too_large',
  'response_too_large',
  'protocol_violation',
  'response_failed',
  'tool_invalid',
  'tool_failed',
  'tool_timeout',
  'tool_cancelled',
  'tool_unknown',
  'tool_arguments_invalid',
  'tool_not_allowed',
  'tool_output_invalid',
  'log_corrupt',
  'log_version',
  'run_exists',
  'run_unknown',
  'run_locked',
  'store_full',
  'store_unusable',
  'resume_refused',
  'script_invalid',
  'script_unfinished',
  'provider_invalid',
  'connect_failed',
  'connect_timeout',
  'tls_failed',
  'headers_timeout',
  'stream_stalled',
  'stream_no_progress',
  'response_timeout',
  'connection_lost',
  'redirect_refused',
  'response_unreadable',
  'key_refused',
  'access_refused',
  'endpoint_not_found',
  'request_refused',
  'quota_used_up',
  'provider_rate_limited',
  'provider_unavailable',
  'request_aborted',
  'request_failed',
] as const

export type ErrorCode = (typeof ERROR_CODES)[number]

/** Every error thrown on purpose. Anything else that escapes this package is a bug in it. */
export class LoopchartError extends Error {
  override readonly name: string = 'LoopchartError'
  readonly code: ErrorCode

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
