import type { Frame } from '../frames/generated/frame.ts'

/** Whether a frame says what an effect saw while it worked: recorded and shown, never needed to decide. */
export function isObservation(frame: Frame): boolean {
  switch (frame.type) {
    case 'response_headers':
    case 'response_first_byte':
    case 'provider_event':
    case 'output_text_delta':
    case 'refusal_delta':
    case 'reasoning_delta':
    case 'tool_stdout':
    case 'tool_stderr':
      return true
    case 'state_entered':
      return frame.by === 'stream.opened'
    case 'warning':
      return frame.cause === 'error_body' || frame.cause === 'late_result'
    default:
      return false
  }
}
