import type { Frame, ResponseSettledFrame } from '../frames/generated/frame.ts'

/** What a log says later and a replay must know before. */
export interface FrameSurvey {
  /** Where requests to each model went, by its name, as the first of them has it. */
  readonly endpoints: ReadonlyMap<string, string>
  /** The last event of each attempt at a response. */
  readonly lastEvents: ReadonlyMap<string, number>
  readonly settled: ReadonlyMap<string, ResponseSettledFrame>
}

export function surveyFrames(frames: readonly Frame[]): FrameSurvey {
  const endpoints = new Map<string, string>()
  const lastEvents = new Map<string, number>()
  const settled = new Map<string, ResponseSettledFrame>()
  for (const frame of frames) {
    if (frame.type === 'request_sent' && !endpoints.has(frame.model))
      endpoints.set(frame.model, frame.endpoint)
    else if (frame.type === 'provider_event') lastEvents.set(attemptKey(frame), frame.seq)
    else if (frame.type === 'response_settled') settled.set(attemptKey(frame), frame)
  }
  return { endpoints, lastEvents, settled }
}

/** Names one attempt at a response; an attempt that was superseded is never made again under its number. */
export function attemptKey({ turn, attempt }: { readonly turn: number; readonly attempt: number }): string {
  return `${turn}/${attempt}`
}
