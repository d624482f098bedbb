/** Every code that loopchart puts on an error; docs/errors.md says what each means and what to do. */
export const ERROR_CODES = [
  'usage',
  'file_unreadable',
  'output_unwritable',
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
