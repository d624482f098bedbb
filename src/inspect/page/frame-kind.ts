import type { Frame } from '../../frames/generated/frame.ts'
import { isJsonObject } from '../../protocol/json.ts'

/** The kinds by which the timeline is filtered, in the order in which they are shown. */
export const FRAME_KINDS = [
  'run',
  'state',
  'request',
  'event',
  'text',
  'call',
  'person',
  'note',
  'talk',
] as const

/** What a frame is about. */
export type FrameKind = (typeof FRAME_KINDS)[number]

/** What a kind holds, in words for people. */
export const KIND_DOCS: Readonly<Record<FrameKind, string>> = {
  run: 'Start, resumption and end',
  state: 'States entered',
  request: 'Requests, answers and retries',
  event: 'Raw events of the provider',
  text: 'Text as it arrives',
  call: 'Calls and what they write',
  person: 'Approvals and commands',
  note: 'Limits, warnings and timers',
  talk: 'Entries of a conversation',
}

const KIND_OF: Readonly<Record<Frame['type'], FrameKind>> = {
  run_started: 'run',
  run_resumed: 'run',
  run_ended: 'run',
  log_repaired: 'run',
  state_entered: 'state',
  request_sent: 'request',
  response_headers: 'request',
  response_first_byte: 'request',
  response_settled: 'request',
  retry_scheduled: 'request',
  continuity_switched: 'request',
  provider_switched: 'request',
  cursor_updated: 'request',
  provider_event: 'event',
  output_text_delta: 'text',
  refusal_delta: 'text',
  reasoning_delta: 'text',
  batch_planned: 'call',
  tool_started: 'call',
  tool_stdout: 'call',
  tool_stderr: 'call',
  tool_ended: 'call',
  tool_failed: 'call',
  child_started: 'call',
  approval_requested: 'person',
  command_received: 'person',
  effect_settled: 'note',
  history_compacted: 'note',
  limit_reached: 'note',
  warning: 'note',
  conversation_started: 'talk',
  conversation_entry: 'talk',
  context_selected: 'talk',
  context_compiled: 'talk',
  conversation_run_started: 'talk',
  conversation_run_ended: 'talk',
  history_summarized: 'talk',
  tool_history_switched: 'talk',
  handed_off: 'talk',
}

/** The kind of a frame; a type that this page does not know yet is a note. */
export function frameKind({ type }: Frame): FrameKind {
  return KIND_OF[type] ?? 'note'
}

/** Whether a frame moves the loop: the fold of these is the run's state. */
export function isDecision({ type }: Frame): boolean {
  return DECISIONS.has(type)
}

const DECISIONS: ReadonlySet<string> = new Set<Frame['type']>([
  'run_started',
  'run_resumed',
  'response_settled',
  'effect_settled',
  'command_received',
  'tool_ended',
  'tool_failed',
])

/** Whether a frame says that something went wrong. Never throws: a log comes from a file, and may be odd. */
export function isFailure(frame: Frame): boolean {
  switch (frame.type) {
    case 'tool_failed':
    case 'limit_reached':
    case 'log_repaired':
      return true
    case 'tool_ended':
      return frame.outcome !== 'ok'
    case 'response_settled':
      return frame.status !== 'completed'
    case 'effect_settled':
      return isJsonObject(frame.error)
    case 'provider_event':
      return frame.status === 'invalid_json' || (Array.isArray(frame.errors) && frame.errors.length > 0)
    case 'run_ended':
      return frame.state === 'failed' || frame.state === 'limitExceeded'
    case 'conversation_run_ended':
      return frame.state === 'failed' || frame.state === 'limitExceeded'
    default:
      return false
  }
}
