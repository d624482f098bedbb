import { FRAME_VERSION, type FrameStamp } from './frame-stamp.ts'
import type {
  Frame,
  OutputTextDeltaFrame,
  ProviderEventFrame,
  ReasoningDeltaFrame,
  RefusalDeltaFrame,
} from './generated/frame.ts'

/** What a frame says beside its envelope. */
export type FramePayload<F extends Frame> = Omit<F, 'v' | 'run_id' | 'seq' | 'ts' | 'type'>

type FrameOf<T extends Frame['type']> = Extract<Frame, { readonly type: T }>

/** A frame of any type; those of which every turn has some have constructors of their own, here and in turn-frames.ts. */
export function makeFrame<T extends Frame['type']>(
  stamp: FrameStamp,
  type: T,
  payload: FramePayload<FrameOf<T>>,
): FrameOf<T>
export function makeFrame(stamp: FrameStamp, type: Frame['type'], payload: object): object {
  return { ...envelope(stamp), type, ...payload }
}

/** What a provider_event frame says of the event itself; `raw` counts unless the bytes were no text. */
export interface ProviderEventPayload extends Pick<
  ProviderEventFrame,
  'status' | 'event_name' | 'errors' | 'response_errors' | 'anomalies'
> {
  readonly raw: string
  readonly raw_base64: string | null
}

// This one and `deltaFrame` are made for every token. A spread costs more than all the rest of the frame, so they are
// written out.
export function providerEventFrame(
  stamp: FrameStamp,
  turn: number,
  attempt: number,
  event: ProviderEventPayload,
): ProviderEventFrame {
  const { status, event_name, raw, raw_base64, errors, response_errors, anomalies } = event
  const v = FRAME_VERSION
  const run_id = stamp.runId
  const seq = stamp.seq()
  const { ts } = stamp
  const type = 'provider_event'
  return raw_base64 === null
    ? { v, run_id, seq, ts, type, turn, attempt, status, event_name, raw, errors, response_errors, anomalies }
    : {
        v,
        run_id,
        seq,
        ts,
        type,
        turn,
        attempt,
        status,
        event_name,
        raw_base64,
        errors,
        response_errors,
        anomalies,
      }
}

/** An event that there is nothing to say about, at a place of the log. Its place is not an object: there is a frame a token. */
export function plainEventFrame(
  run_id: string,
  seq: number,
  ts: number,
  turn: number,
  attempt: number,
  event_name: string,
  raw: string,
): ProviderEventFrame {
  return {
    v: FRAME_VERSION,
    run_id,
    seq,
    ts,
    type: 'provider_event',
    turn,
    attempt,
    status: 'event',
    event_name,
    raw,
    errors: NONE,
    response_errors: NONE,
    anomalies: NONE,
  }
}

/** The end of a stream as the provider said it, with nothing to say about it. */
export function doneMarkFrame(
  run_id: string,
  seq: number,
  ts: number,
  turn: number,
  attempt: number,
): ProviderEventFrame {
  return {
    v: FRAME_VERSION,
    run_id,
    seq,
    ts,
    type: 'provider_event',
    turn,
    attempt,
    status: 'done',
    event_name: null,
    raw: '[DONE]',
    errors: NONE,
    response_errors: NONE,
    anomalies: NONE,
  }
}

const NONE: readonly never[] = []

/** Where in which log a frame stands. */
export interface FramePlace {
  readonly runId: string
  readonly seq: number
  readonly ts: number
}

/** What a frame of text as it appears is; `part` of a reasoning_delta alone. */
export type DeltaKind =
  | { readonly type: 'output_text_delta' | 'refusal_delta'; readonly part: null }
  | { readonly type: 'reasoning_delta'; readonly part: ReasoningDeltaFrame['part'] }

export type DeltaPlace = Pick<OutputTextDeltaFrame, 'item_id' | 'output_index'>

/** A frame of text as it appears. So that a reader needs to know no provider's events. */
export function deltaFrame(
  { runId: run_id, seq, ts }: FramePlace,
  kind: DeltaKind,
  delta: string,
  { item_id, output_index }: DeltaPlace,
): OutputTextDeltaFrame | RefusalDeltaFrame | ReasoningDeltaFrame {
  const v = FRAME_VERSION
  return kind.part === null
    ? { v, run_id, seq, ts, type: kind.type, delta, item_id, output_index }
    : { v, run_id, seq, ts, type: kind.type, delta, item_id, output_index, part: kind.part }
}

export function outputTextDeltaFrame(
  stamp: FrameStamp,
  payload: FramePayload<OutputTextDeltaFrame>,
): OutputTextDeltaFrame {
  return { ...envelope(stamp), type: 'output_text_delta', ...payload }
}

export function refusalDeltaFrame(
  stamp: FrameStamp,
  payload: FramePayload<RefusalDeltaFrame>,
): RefusalDeltaFrame {
  return { ...envelope(stamp), type: 'refusal_delta', ...payload }
}

export function reasoningDeltaFrame(
  stamp: FrameStamp,
  payload: FramePayload<ReasoningDeltaFrame>,
): ReasoningDeltaFrame {
  return { ...envelope(stamp), type: 'reasoning_delta', ...payload }
}

function envelope(stamp: FrameStamp): Pick<Frame, 'v' | 'run_id' | 'seq' | 'ts'> {
  return { v: FRAME_VERSION, run_id: stamp.runId, seq: stamp.seq(), ts: stamp.ts }
}
