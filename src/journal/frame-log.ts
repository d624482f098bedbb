import type { Frame } from '../frames/generated/frame.ts'

/** The frames of a run, for any number of readers. A reader is a place in the log, not a queue of its own. */
export class FrameLog {
  readonly #frames: Frame[] = []
  #isEnded = false
  #wake: (() => void)[] = []

  get frames(): readonly Frame[] {
    return this.#frames
  }

  get isEnded(): boolean {
    return this.#isEnded
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
  read(from = 0): AsyncIterableIterator<Frame> {
    return new LogReader(this, from, (frame) => frame)
  }

  /** The text of the answer, as it comes. */
  readText(): AsyncIterableIterator<string> {
    return new LogReader(this, 0, (frame) => (frame.type === 'output_text_delta' ? frame.delta : null))
  }

  /** Resolves when a frame was appended, or none will be. */
  changed(): Promise<void> {
    return new Promise((resolve) => this.#wake.push(resolve))
  }

  #wakeReaders(): void {
    const sleeping = this.#wake
    this.#wake = []
    for (const wake of sleeping) wake()
  }
}

/** Written out where a generator would do: a generator waits three times for each frame, and there is one a token. */
class LogReader<T extends object | string> implements AsyncIterableIterator<T> {
  readonly #log: FrameLog
  readonly #pick: (frame: Frame) => T | null
  #at: number

  constructor(log: FrameLog, from: number, pick: (frame: Frame) => T | null) {
    this.#log = log
    this.#at = from
    this.#pick = pick
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<IteratorResult<T, undefined>> {
    const value = this.#take()
    return value === null ? this.#wait() : Promise.resolve({ value, done: false })
  }

  return(): Promise<IteratorResult<T, undefined>> {
    this.#at = Number.POSITIVE_INFINITY
    return Promise.resolve({ value: undefined, done: true })
  }

  #take(): T | null {
    const { frames } = this.#log
    while (this.#at < frames.length) {
      const frame = frames[this.#at]
      this.#at += 1
      const value = frame === undefined ? null : this.#pick(frame)
      if (value !== null) return value
    }
    return null
  }

  async #wait(): Promise<IteratorResult<T, undefined>> {
    while (!this.#log.isEnded && Number.isFinite(this.#at)) {
      await this.#log.changed()
      const value = this.#take()
      if (value !== null) return { value, done: false }
    }
    return { value: undefined, done: true }
  }
}
