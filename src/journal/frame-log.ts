import type { Frame } from '../frames/generated/frame.ts'

/** The frames of a run, for any number of readers. A reader is a place in the log, not a queue of its own. */
export class FrameLog {
  readonly #frames: Frame[] = []
  #isEnded = false
  #wake: (() => void)[] = []

  get frames(): readonly Frame[] {
    return this.#frames
  }

  append(frame: Frame): void {
    this.#frames.push(frame)
    if (this.#wake.length > 0) this.#wakeReaders()
  }

  /** No frame will follow; readers come to their end. */
  end(): void {
    this.#isEnded = true
    this.#wakeReaders()
  }

  /** Every frame from a number on, as they come; ends with the log. Leaving it early ends nothing else. */
  async *read(from = 0): AsyncGenerator<Frame, void, undefined> {
    for (let at = from; ; at += 1) {
      while (at >= this.#frames.length) {
        if (this.#isEnded) return
        await new Promise<void>((resolve) => this.#wake.push(resolve))
      }
      const frame = this.#frames[at]
      if (frame !== undefined) yield frame
    }
  }

  #wakeReaders(): void {
    const sleeping = this.#wake
    this.#wake = []
    for (const wake of sleeping) wake()
  }
}
