import type { Frame } from '../frames/generated/frame.ts'
import { IN_DOUBT } from '../loop/children.ts'
import { COMPACTION_REFUSED } from '../loop/compact.ts'
import { UNTOUCHED } from '../loop/run-tool.ts'

const OBSERVED_WARNINGS: ReadonlySet<string> = new Set([
  'error_body',
  'late_result',
  UNTOUCHED,
  IN_DOUBT,
  COMPACTION_REFUSED,
])

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
    case 'child_started':
      return true
    case 'request_sent':
      return frame.kind === 'compact'
    case 'approval_requested':
      return frame.path.length > 1
    case 'state_entered':
      return frame.by === 'stream.opened'
    case 'warning':
      return OBSERVED_WARNINGS.has(frame.cause)
    default:
      return false
  }
}
