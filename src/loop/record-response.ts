import type { FrameBlock } from '../frames/frame-block.ts'
import type { FrameStamp } from '../frames/frame-stamp.ts'
import type { Frame } from '../frames/generated/frame.ts'
import { deltaFrame, providerEventFrame, responseFirstByteFrame } from '../frames/make-frame.ts'
import { isJsonObject } from '../protocol/json.ts'
import type { ValidationProfile } from '../protocol/validation-profile.ts'
import type { Anomaly } from '../stream/anomaly.ts'
import type { DeltaTemplate } from '../stream/delta-template.ts'
import type { StreamEvent } from '../stream/event-pipeline.ts'
import { createBodyReader, createStreamReader, type ResponseReader } from '../stream/response-reader.ts'
import type { StreamLimits } from '../stream/stream-limits.ts'
import { deltaKindOf, deltaPlaceOf } from './delta-kind.ts'
import { DeltaRun } from './delta-run.ts'

export interface RecorderOptions {
  readonly stamp: FrameStamp
  readonly turn: number
  readonly attempt: number
  readonly profile: ValidationProfile
  /** `stream` for text/event-stream, `body` for a response that comes whole. */
  readonly shape: 'stream' | 'body'
  readonly limits?: Partial<StreamLimits>
  readonly onFrame: (frame: Frame) => void
  /** Takes frames as a block that grows, with how many it has more; without it, every frame is made at once. */
  readonly onBlock?: ((block: FrameBlock, added: number) => void) | undefined
}

/** Reads one response and records it: one frame for each event, derived frames directly after theirs. */
export function recordResponse(options: RecorderOptions): ResponseReader {
  const { stamp, turn, attempt, profile, shape, limits = {}, onFrame, onBlock } = options
  const createReader = shape === 'stream' ? createStreamReader : createBodyReader
  const reader = createReader({
    profile,
    limits,
    onEvent: (event) => {
      onFrame(providerEventFrame(stamp, turn, attempt, event))
      const derived = derivedFrame(stamp, event)
      if (derived !== null) onFrame(derived)
    },
    onDelta: onBlock === undefined ? undefined : deltaRecorder(stamp, turn, attempt, onBlock),
  })
  let isFirst = true
  return {
    feed(chunk) {
      stamp.tick()
      if (isFirst && chunk.length > 0) {
        isFirst = false
        onFrame(responseFirstByteFrame(stamp, { turn, attempt }))
      }
      return reader.feed(chunk)
    },
    end() {
      stamp.tick()
      return reader.end()
    },
  }
}

function deltaRecorder(
  stamp: FrameStamp,
  turn: number,
  attempt: number,
  onBlock: (block: FrameBlock, added: number) => void,
): (template: DeltaTemplate) => void {
  let run: DeltaRun | null = null
  return (template) => {
    if (run?.canTake(template, stamp) !== true) run = new DeltaRun(template, stamp, turn, attempt)
    onBlock(run, run.add(stamp))
  }
}

function derivedFrame(stamp: FrameStamp, { type, data, isLate, anomalies }: StreamEvent): Frame | null {
  const kind = deltaKindOf(type)
  if (kind === null || isLate || !isJsonObject(data) || anomalies.some(isAfterDone)) return null
  const { delta } = data
  if (typeof delta !== 'string') return null
  const { runId, ts } = stamp
  return deltaFrame({ runId, seq: stamp.seq(), ts }, kind, delta, deltaPlaceOf(data))
}

function isAfterDone({ code }: Anomaly): boolean {
  return code === 'delta_after_done'
}
