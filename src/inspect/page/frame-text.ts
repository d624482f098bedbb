import type { Frame } from '../../frames/generated/frame.ts'
import type { Json, JsonObject } from '../../protocol/json.ts'
import { stateName } from './state-name.ts'

const TEXT_CHARS_MAX = 160

/** What a frame says, in a few words on one line; nothing for one that lacks what its type should have. */
export function frameText(frame: Frame): string {
  try {
    return oneLine(wordsOf(frame) ?? '')
  } catch {
    // A log comes from a file, and may be odd: its other frames are shown all the same.
    return ''
  }
}

/** Undefined only for a type that this page does not know. */
function wordsOf(frame: Frame): string | undefined {
  switch (frame.type) {
    case 'run_started':
      return join(frame.model, typeof frame.input === 'string' ? frame.input : `${frame.input.length} items`)
    case 'run_resumed':
      return `epoch ${frame.epoch}`
    case 'state_entered':
      return `${stateName(frame.state)} by ${frame.by}`
    case 'request_sent':
      return join(
        `turn ${frame.turn}`,
        frame.attempt > 0 && `attempt ${frame.attempt + 1}`,
        frame.kind,
        frame.model,
      )
    case 'response_headers':
      return join(String(frame.status), frame.content_type)
    case 'response_first_byte':
      return `turn ${frame.turn}`
    case 'provider_event':
      return join(eventName(frame), ...frame.anomalies.map(({ code }) => code), ...frame.errors)
    case 'output_text_delta':
    case 'refusal_delta':
    case 'reasoning_delta':
      return frame.delta
    case 'response_settled':
      return join(
        frame.status,
        `${frame.items.length} ${frame.items.length === 1 ? 'item' : 'items'}`,
        frame.error?.message,
      )
    case 'effect_settled':
      return join(frame.id, frame.in_doubt && 'in doubt', frame.error?.message)
    case 'retry_scheduled':
    case 'continuity_switched':
    case 'provider_switched':
    case 'history_compacted':
    case 'batch_planned':
    case 'limit_reached':
    case 'cursor_updated':
    case 'warning':
    case 'history_summarized':
    case 'tool_history_switched':
      return join(frame.cause, figuresText(frame.figures))
    case 'command_received':
      return join(
        valueText(frame.command['type']),
        valueText(frame.answer['answer']),
        valueText(frame.answer['reason']),
      )
    case 'approval_requested':
      return join(frame.shown, frame.reason)
    case 'tool_started':
      return `${frame.name} ${frame.arguments}`
    case 'child_started':
      return join(frame.call_id, frame.child_run_id)
    case 'tool_stdout':
    case 'tool_stderr':
      return frame.chunk
    case 'tool_ended':
    case 'tool_failed':
      return join(frame.call_id, frame.outcome, `${frame.duration_ms} ms`, frame.error?.message)
    case 'run_ended':
      return join(frame.state, frame.reason, frame.text)
    case 'log_repaired':
      return `${frame.bytes_dropped} bytes dropped`
    default:
      return conversationWords(frame)
  }
}

type RunFrame = Exclude<Frame, { type: `conversation_${string}` | `context_${string}` | 'handed_off' }>

/** Frames of a conversation's own log. */
function conversationWords(frame: Exclude<Frame, RunFrame>): string | undefined {
  switch (frame.type) {
    case 'conversation_started':
      return frame.model
    case 'conversation_entry':
      return join(`entry ${frame.entry_seq}`, valueText(frame.entry['type']))
    case 'context_selected':
    case 'context_compiled':
    case 'conversation_run_started':
      return frame.child_run_id
    case 'conversation_run_ended':
      return join(frame.state, frame.reason)
    case 'handed_off':
      return join(frame.to, frame.model)
  }
}

function eventName(frame: Extract<Frame, { type: 'provider_event' }>): string {
  if (frame.status === 'done') return '[DONE]'
  if (frame.status === 'invalid_json') return 'not JSON'
  return frame.event_name?.replace(/^response\./, '') ?? 'event without a name'
}

function figuresText(figures: JsonObject): string {
  return Object.entries(figures)
    .map(([name, value]) => `${name} ${valueText(value)}`)
    .join(', ')
}

function valueText(value: Json | undefined): string {
  if (value === undefined || value === null) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function join(...words: readonly (string | false | null | undefined)[]): string {
  return words.filter((word) => typeof word === 'string' && word !== '').join(' · ')
}

/** Cut before anything else is done with it: a frame may hold megabytes, and only a line is shown. */
function oneLine(text: string): string {
  const short = text.length > TEXT_CHARS_MAX ? `${text.slice(0, TEXT_CHARS_MAX)}…` : text
  return short.replaceAll(/\s+/gu, ' ').trim()
}
