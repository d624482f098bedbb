import type { Frame } from './generated/frame.ts'

/** The version of the frame format that this code writes and reads. */
export const FRAME_VERSION: Frame['v'] = 1

/** Gives the frames of one run their place: number and time. */
export class FrameStamp {
  readonly runId: string
  /** Milliseconds; the same for all frames of one occasion. */
  ts: number
  readonly #now: () => number
  #nextSeq: number

  /** `now` gives milliseconds; when a run goes on, `after` is the last frame it has. */
  constructor(runId: string, now: () => number, after?: Pick<Frame, 'seq' | 'ts'>) {
    this.runId = runId
    this.#now = now
    this.#nextSeq = after === undefined ? 0 : after.seq + 1
    this.ts = after?.ts ?? 0
    this.tick()
  }

  /** Reads the clock. Called once an occasion: bytes arrived, a step was taken. */
  tick(): void {
    // A clock that was set back must not make a log whose times decrease.
    const now = Math.floor(this.#now())
    if (now > this.ts) this.ts = now
  }

  /** The number that the next frame gets. */
  get next(): number {
    return this.#nextSeq
  }

  seq(): number {
    return this.take(1)
  }

  /** Gives numbers to so many frames; the answer is that of the first. */
  take(count: number): number {
    const first = this.#nextSeq
    this.#nextSeq += count
    return first
  }
}
