import type { Frame } from './generated/frame.ts'

/** The version of the frame format that this code writes and reads. */
export const FRAME_VERSION: Frame['v'] = 1

/** Gives the frames of one run their place: number and time. */
export class FrameStamp {
  readonly runId: string
  /** Milliseconds; the same for all frames of one occasion. */
  ts = 0
  readonly #now: () => number
  #nextSeq: number

  /** `now` gives milliseconds; `firstSeq` is past 0 when a run goes on. */
  constructor(runId: string, now: () => number, firstSeq = 0) {
    this.runId = runId
    this.#now = now
    this.#nextSeq = firstSeq
    this.tick()
  }

  /** Reads the clock. Called once an occasion: bytes arrived, a step was taken. */
  tick(): void {
    // A clock that was set back must not make a log whose times decrease.
    this.ts = Math.max(this.ts, Math.floor(this.#now()))
  }

  seq(): number {
    const seq = this.#nextSeq
    this.#nextSeq += 1
    return seq
  }
}
