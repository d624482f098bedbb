import type { Frame } from '../frames/generated/frame.ts'
import { CursorReader } from './cursor-reader.ts'
import type { FrameCursor, ReadableLog, SkippingCursor } from './frame-cursor.ts'
import { LiveCursor, type LiveLog } from './live-cursor.ts'

/** A log that keeps only its latest frames in memory. */
export interface RecentFrames {
  /** How many at least; those that were written last, at once, are all kept until more are. */
  readonly recent: number
  /** A place among those that were written, from the frame of a number on. */
  readonly older: (from: number) => SkippingCursor
}

/** The frames of a run, for any number of readers. A reader is a place in the log, not a queue of its own. */
export class FrameLog implements ReadableLog, LiveLog {
  readonly #kept: RecentFrames | null
  readonly #frames: Frame[] = []
  #waiting: (() => void)[] = []
  #first = 0
  #isEnded = false

  /** With nothing said it keeps all frames. */
  constructor(kept: RecentFrames | null = null) {
    this.#kept = kept
  }

  get frames(): readonly Frame[] {
    return this.#frames
  }

  get first(): number {
    return this.#first
  }

  get length(): number {
    return this.#first + this.#frames.length
  }

  get isEnded(): boolean {
    return this.#isEnded
  }

  /** Adds what was written at once. Readers that keep up have taken what was written before: that may go. */
  append(frames: readonly Frame[]): void {
    this.#trim()
    for (const frame of frames) this.#frames.push(frame)
    if (this.#waiting.length > 0) this.#wakeReaders()
  }

  /** No frame will follow; readers come to their end. */
  end(): void {
    this.#isEnded = true
    this.#trim()
    this.#wakeReaders()
  }

  /** A place in the log, from the frame of a number on. Within memory it is served from there. */
  cursor(from: number): FrameCursor {
    return new LiveCursor(this, from)
  }

  /** Every frame from a number on, as they come; ends with the log. Leaving it early ends nothing else. */
  read(from = 0): AsyncIterableIterator<Frame> {
    return new CursorReader(this.cursor(from), (frame) => frame)
  }

  /** The text of the answer, as it comes. */
  readText(): AsyncIterableIterator<string> {
    return new CursorReader(this.cursor(0), (frame) =>
      frame.type === 'output_text_delta' ? frame.delta : null,
    )
  }

  older(from: number): SkippingCursor {
    if (this.#kept === null) throw new Error('a log that keeps all frames has none elsewhere')
    return this.#kept.older(from)
  }

  listen(wake: () => void): void {
    this.#waiting.push(wake)
  }

  forget(wake: () => void): void {
    this.#waiting = this.#waiting.filter((waiting) => waiting !== wake)
  }

  #trim(): void {
    const dropped = this.#kept === null ? 0 : this.#frames.length - this.#kept.recent
    if (dropped <= 0) return
    this.#frames.splice(0, dropped)
    this.#first += dropped
  }

  #wakeReaders(): void {
    const woken = this.#waiting
    this.#waiting = []
    for (const wake of woken) wake()
  }
}
