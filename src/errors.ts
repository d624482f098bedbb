/** Every code that loopchart puts on an error; docs/errors.md says what each means and what to do. */
export const ERROR_CODES = [
  'usage',
  'file_unreadable',
  'request_invalid',
  'frame_invalid',
  'frame_version_unknown',
  'malformed_event',
  'stream_truncated',
  'event_too_large',
  'response_too_large',
  'protocol_violation',
  'response_failed',
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
