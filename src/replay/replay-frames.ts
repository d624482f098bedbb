// Drives a run again from its log: no network, no tool, no clock. The decisions and the provider's bytes are taken from
// the log; everything that follows from them is made again and compared.
import { LoopchartError } from '../errors.ts'
import type { Frame } from '../frames/generated/frame.ts'
import type { Difference } from './first-difference.ts'
import { Replayer, type ReplayOptions } from './replayer.ts'
import { surveyFrames } from './survey-frames.ts'

/** The first thing in a log that does not follow from what is before it. */
export interface Divergence extends Difference {
  /** The frame, by the number that it should have. */
  readonly seq: number
  /** Where the chart is at that moment, as a dotted path; empty before the start. */
  readonly state: string
}

export type ReplayResult =
  | {
      readonly ok: true
      readonly frames: number
      /** How many of them moved the run, its start included. */
      readonly decisions: number
    }
  | { readonly ok: false; readonly divergence: Divergence }

/**
 * Replays a log as far as it goes. Times and durations do not count, nor does what only the world knew and nothing
 * followed from: the status of a response, what a tool printed, a setting that was never needed.
 */
export function replayFrames(log: Iterable<Frame>, options: ReplayOptions): ReplayResult {
  const frames = [...log]
  const replayer = new Replayer(surveyFrames(frames), options)
  for (const [at, frame] of frames.entries()) {
    const difference = differenceIn(replayer, frame, at)
    if (difference !== null) {
      return { ok: false, divergence: { seq: at, state: replayer.state, ...difference } }
    }
  }
  return { ok: true, frames: frames.length, decisions: replayer.decisions }
}

/** A log may be anybody's work: what the chart cannot make sense of is where it differs. */
function differenceIn(replayer: Replayer, frame: Frame, at: number): Difference | null {
  try {
    return replayer.take(frame, at)
  } catch (error) {
    if (!(error instanceof LoopchartError || error instanceof TypeError || error instanceof RangeError))
      throw error
    return { field: 'type', expected: 'something that can follow here', actual: error.message }
  }
}
