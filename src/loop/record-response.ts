import type { Frame } from '../frames/generated/frame.ts'
import type { FrameStamp } from '../frames/frame-stamp.ts'
import {
  outputTextDeltaFrame,
  providerEventFrame,
  reasoningDeltaFrame,
  refusalDeltaFrame,
  responseFirstByteFrame,
} from '../frames/make-frame.ts'
import { isJsonObject, type Json } from '../protocol/json.ts'
import type { ValidationProfile } from '../protocol/validation-profile.ts'
import type { Anomaly } from '../stream/anomaly.ts'
import type { StreamEvent } from '../stream/event-pipeline.ts'
import { createBodyReader, createStreamReader, type ResponseReader } from '../stream/response-reader.ts'
import type { StreamLimits } from '../stream/stream-limits.ts'

export interface RecorderOptions {
  readonly stamp: FrameStamp
  readonly turn: number
  readonly attempt: number
  readonly profile: ValidationProfile
  /** `stream` for text/event-stream, `body` for a response that comes whole. */
  readonly shape: 'stream' | 'body'
  readonly limits?: Partial<StreamLimits>
  readonly onFrame: (frame: Frame) => void
}

/** Reads one response and records it: one frame for each event, derived frames directly after theirs. */
export function recordResponse(options: RecorderOptions): ResponseReader {
  const { stamp, turn, attempt, profile, shape, limits = {}, onFrame } = options
  const createReader = shape === 'stream' ? createStreamReader : createBodyReader
  const reader = createReader({
    profile,
    limits,
    onEvent: (event) => {
      onFrame(providerEventFrame(stamp, turn, attempt, event))
      const derived = derivedFrame(stamp, event)
      if (derived !== null) onFrame(derived)
    },
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

/** A second, smaller frame for text as it appears, so that a reader needs to know no provider's events. */
function derivedFrame(stamp: FrameStamp, { type, data, isLate, anomalies }: StreamEvent): Frame | null {
  if (isLate || anomalies.some(isAfterDone)) return null
  switch (type) {
    case 'response.output_text.delta': {
      const payload = readDelta(data)
      return payload && outputTextDeltaFrame(stamp, payload)
    }
    case 'response.refusal.delta': {
      const payload = readDelta(data)
      return payload && refusalDeltaFrame(stamp, payload)
    }
    case 'response.reasoning.delta':
    case 'response.reasoning_text.delta': {
      const payload = readDelta(data)
      return payload && reasoningDeltaFrame(stamp, { ...payload, part: 'content' })
    }
    case 'response.reasoning_summary_text.delta': {
      const payload = readDelta(data)
      return payload && reasoningDeltaFrame(stamp, { ...payload, part: 'summary' })
    }
    default:
      return null
  }
}

function isAfterDone({ code }: Anomaly): boolean {
  return code === 'delta_after_done'
}

interface DeltaPayload {
  readonly delta: string
  readonly item_id: string | null
  readonly output_index: number | null
}

function readDelta(data: Json | undefined): DeltaPayload | null {
  if (!isJsonObject(data)) return null
  const { delta, item_id: itemId, output_index: outputIndex } = data
  if (typeof delta !== 'string') return null
  return {
    delta,
    item_id: typeof itemId === 'string' ? itemId : null,
    output_index: Number.isInteger(outputIndex) ? Number(outputIndex) : null,
  }
}
