import type { Frame, ResponseSettledFrame } from '../../../src/frames/generated/frame.ts'
import type { JsonObject } from '../../../src/protocol/json.ts'

/** What a reader of these frames, all of them, would note down: slow, and too simple to be wrong. */
export interface PlainView {
  readonly turn: number
  /** What each request was answered with so far, as one text. */
  readonly said: readonly string[]
  readonly attempts: readonly string[]
  readonly calls: readonly {
    readonly callId: string
    readonly name: string
    readonly outcome: string | null
    readonly isStarted: boolean
    readonly stdout: string
  }[]
  readonly asked: readonly string[]
  readonly tokens: number
  readonly requests: number
  readonly events: number
  readonly marked: number
}

/** Notes down what a list of frames says. */
export function plainView(frames: readonly Frame[]): PlainView {
  const of = <Type extends Frame['type']>(type: Type): readonly Extract<Frame, { type: Type }>[] =>
    frames.filter((frame): frame is Extract<Frame, { type: Type }> => frame.type === type)
  const ended = [...of('tool_ended'), ...of('tool_failed')]
  const events = of('provider_event')
  const settled = of('response_settled')
  return {
    turn: frames.reduce((turn, frame) => (frame.type === 'state_entered' ? frame.turn : turn), 0),
    said: of('request_sent').map((request) => saidSince(frames, request.seq)),
    attempts: of('request_sent').map((request) => stateSince(frames, request.seq)),
    calls: settled.flatMap(callsOf).map(({ callId, name }) => ({
      callId,
      name,
      outcome: ended.find(({ call_id }) => call_id === callId)?.outcome ?? null,
      isStarted: of('tool_started').some(({ call_id }) => call_id === callId),
      stdout: of('tool_stdout')
        .filter(({ call_id }) => call_id === callId)
        .map(({ chunk }) => chunk)
        .join(''),
    })),
    asked: of('approval_requested')
      .filter(({ call_id }) => !ended.some((end) => end.call_id === call_id))
      .filter(({ call_id }) => !of('tool_started').some((start) => start.call_id === call_id))
      .filter(({ call_id }) => !of('command_received').some(({ command }) => command['callId'] === call_id))
      .map(({ call_id }) => call_id),
    tokens: settled.reduce((sum, { usage }) => sum + Number(usage?.['total_tokens'] ?? 0), 0),
    requests: of('request_sent').length,
    events: events.length,
    marked: events.filter(
      ({ status, errors, response_errors, anomalies, event_name }) =>
        status === 'invalid_json' ||
        errors.length + response_errors.length + anomalies.length > 0 ||
        event_name === 'response.failed',
    ).length,
  }
}

/** The frames of one request: from it to the next. */
function answerTo(frames: readonly Frame[], request: number): readonly Frame[] {
  const next = frames.findIndex(({ seq, type }) => seq > request && type === 'request_sent')
  return frames.slice(request + 1, next === -1 ? undefined : next)
}

function saidSince(frames: readonly Frame[], request: number): string {
  const answer = answerTo(frames, request)
  const settled = answer.find((frame) => frame.type === 'response_settled')
  if (settled !== undefined && settled.status !== 'failed' && settled.items.length > 0) {
    return settled.items.flatMap(textsOf).join('')
  }
  return answer
    .map((frame) =>
      frame.type === 'output_text_delta' || frame.type === 'refusal_delta' || frame.type === 'reasoning_delta'
        ? frame.delta
        : '',
    )
    .join('')
}

function textsOf({ content, summary }: JsonObject): readonly string[] {
  return [summary ?? [], content ?? []].flat().map((part) => (part as { text: string }).text)
}

function stateSince(frames: readonly Frame[], request: number): string {
  const answer = answerTo(frames, request)
  const settled = answer.find((frame) => frame.type === 'response_settled')
  if (settled !== undefined) return settled.status
  if (answer.some((frame) => frame.type === 'run_resumed' && frame.superseded !== null)) return 'cut_off'
  return answer.some(({ type }) => type === 'provider_event') ? 'streaming' : 'sent'
}

function callsOf({ items }: ResponseSettledFrame): readonly { callId: string; name: string }[] {
  return items
    .filter(({ type }) => type === 'function_call')
    .map((item) => ({ callId: item['call_id'] as string, name: item['name'] as string }))
}
