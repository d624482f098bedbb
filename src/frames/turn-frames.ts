// The frames of which every turn has some. A spread costs more than all the rest of a frame, in time and in memory, so
// each is written out.
import { FRAME_VERSION, type FrameStamp } from './frame-stamp.ts'
import type {
  BatchPlannedFrame,
  RequestSentFrame,
  ResponseFirstByteFrame,
  ResponseHeadersFrame,
  ResponseSettledFrame,
  StateEnteredFrame,
  ToolEndedFrame,
  ToolFailedFrame,
  ToolStartedFrame,
} from './generated/frame.ts'
import type { FramePayload } from './make-frame.ts'

const v = FRAME_VERSION

export function stateEnteredFrame(
  stamp: FrameStamp,
  state: string,
  by: string,
  turn: number,
): StateEnteredFrame {
  const { runId: run_id, ts } = stamp
  return { v, run_id, seq: stamp.seq(), ts, type: 'state_entered', state, by, turn }
}

export function requestSentFrame(
  stamp: FrameStamp,
  { turn, attempt, kind, continuity, endpoint, model, body }: FramePayload<RequestSentFrame>,
): RequestSentFrame {
  const { runId: run_id, ts } = stamp
  return {
    v,
    run_id,
    seq: stamp.seq(),
    ts,
    type: 'request_sent',
    turn,
    attempt,
    kind,
    continuity,
    endpoint,
    model,
    body,
  }
}

export function responseHeadersFrame(
  stamp: FrameStamp,
  { turn, attempt, status, request_id, content_type }: FramePayload<ResponseHeadersFrame>,
): ResponseHeadersFrame {
  const { runId: run_id, ts } = stamp
  return {
    v,
    run_id,
    seq: stamp.seq(),
    ts,
    type: 'response_headers',
    turn,
    attempt,
    status,
    request_id,
    content_type,
  }
}

export function responseFirstByteFrame(
  stamp: FrameStamp,
  { turn, attempt }: FramePayload<ResponseFirstByteFrame>,
): ResponseFirstByteFrame {
  const { runId: run_id, ts } = stamp
  return { v, run_id, seq: stamp.seq(), ts, type: 'response_first_byte', turn, attempt }
}

export function responseSettledFrame(
  stamp: FrameStamp,
  turn: number,
  attempt: number,
  {
    response_id,
    status,
    items,
    usage,
    error,
  }: Omit<FramePayload<ResponseSettledFrame>, 'turn' | 'attempt' | 'decision'>,
  decision: ResponseSettledFrame['decision'],
): ResponseSettledFrame {
  const { runId: run_id, ts } = stamp
  return {
    v,
    run_id,
    seq: stamp.seq(),
    ts,
    type: 'response_settled',
    turn,
    attempt,
    response_id,
    status,
    items,
    usage,
    error,
    decision,
  }
}

export function batchPlannedFrame(
  stamp: FrameStamp,
  cause: string,
  slots: readonly number[],
): BatchPlannedFrame {
  const { runId: run_id, ts } = stamp
  return { v, run_id, seq: stamp.seq(), ts, type: 'batch_planned', cause, figures: { slots } }
}

export function toolStartedFrame(
  stamp: FrameStamp,
  payload: FramePayload<ToolStartedFrame>,
): ToolStartedFrame {
  const { call_id, item_id, output_index, slot, name, attempt, timeout_ms } = payload
  const { runId: run_id, ts } = stamp
  return {
    v,
    run_id,
    seq: stamp.seq(),
    ts,
    type: 'tool_started',
    call_id,
    item_id,
    output_index,
    slot,
    name,
    arguments: payload.arguments,
    attempt,
    timeout_ms,
  }
}

/** How a call ended: `tool_ended` when it went well, `tool_failed` when not. */
export function toolOutcomeFrame(
  stamp: FrameStamp,
  payload: FramePayload<ToolEndedFrame>,
): ToolEndedFrame | ToolFailedFrame {
  const { call_id, slot, outcome, exit_code, artifacts, output, duration_ms, error, usage } = payload
  const { runId: run_id, ts } = stamp
  const seq = stamp.seq()
  const type = outcome === 'ok' ? 'tool_ended' : 'tool_failed'
  return {
    v,
    run_id,
    seq,
    ts,
    type,
    call_id,
    slot,
    outcome,
    exit_code,
    artifacts,
    output,
    duration_ms,
    error,
    usage,
  }
}
