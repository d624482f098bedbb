import type { FrameBlock } from '../frames/frame-block.ts'
import type { Frame } from '../frames/generated/frame.ts'
import { BatchReader, CursorReader } from './cursor-reader.ts'
import type { FrameCursor, ReadableLog, SkippingCursor } from './frame-cursor.ts'
import { LiveCursor, type LiveLog } from './live-cursor.ts'

const NOBODY: (() => void)[] = []

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
  readonly #entries: (Frame | FrameBlock)[] = []
  /** The number of the first frame of each entry. */
  readonly #starts: number[] = []
  #waiting: (() => void)[] = NOBODY
  #length = 0
  #isEnded = false

  /** With nothing said it keeps all frames. */
  constructor(kept: RecentFrames | null = null) {
    this.#kept = kept
  }

  get first(): number {
    return this.#starts[0] ?? this.#length
  }

  get length(): number {
    return this.#length
  }

  get isEnded(): boolean {
    return this.#isEnded
  }

  /** Those in memory. */
  get frames(): readonly Frame[] {
    return this.slice(this.first, this.#length)
  }

  /** Whether it lets go of none. */
  get keepsAll(): boolean {
    return this.#kept === null
  }

  /** The latest frame; null: there is none. */
  get last(): Frame | null {
    return this.slice(this.#length - 1, this.#length)[0] ?? null
  }

  /** The frames of a range that are in memory. Those of blocks are made anew. */
  slice(from: number, to: number): readonly Frame[] {
    const end = Math.min(to, this.#length)
    let seq = Math.max(from, this.first)
    const frames: Frame[] = []
    for (let at = this.#entryOf(seq); seq < end; at += 1) {
      const entry = this.#entries[at]
      if (entry === undefined) break
      if (!isBlock(entry)) {
        frames.push(entry)
        seq += 1
        continue
      }
      const start = this.#starts[at] ?? 0
      const last = Math.min(end, this.#starts[at + 1] ?? this.#length)
      if (entry.addTo !== undefined) entry.addTo(frames, seq - start, last - start)
      else for (let index = seq - start; index < last - start; index += 1) frames.push(entry.at(index))
      seq = last
    }
    return frames
  }

  /** Adds what was written at once. Readers that keep up have taken what was written before: that may go. */
  append(frames: readonly Frame[]): void {
    this.#trim()
    for (let at = 0; at < frames.length; at += 1) {
      const frame = frames[at]
      if (frame !== undefined) this.#push(frame)
    }
    if (this.#waiting.length > 0) this.#wakeReaders()
  }

  /** Adds one frame. */
  add(frame: Frame): void {
    this.#trim()
    this.#push(frame)
    if (this.#waiting.length > 0) this.#wakeReaders()
  }

  #push(frame: Frame): void {
    this.#starts.push(this.#length)
    this.#entries.push(frame)
    this.#length += 1
  }

  /** Adds the next frames of a block: those that it has beyond what the log has. */
  extend(block: FrameBlock, added: number): void {
    if (this.#entries.at(-1) !== block) {
      if (block.length !== added) throw new Error('a block does not go on behind other frames')
      this.#trim()
      this.#starts.push(this.#length)
      this.#entries.push(block)
    }
    this.#length += added
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

  /** The same, as many at once as there are. */
  readBatches(from = 0): AsyncIterableIterator<readonly Frame[]> {
    return new BatchReader(this.cursor(from))
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
    // Mostly there is one, for whom a list that could grow would be six times as long.
    if (this.#waiting.length === 0) this.#waiting = [wake]
    else this.#waiting.push(wake)
  }

  forget(wake: () => void): void {
    this.#waiting = this.#waiting.filter((waiting) => waiting !== wake)
  }

  /** Lets go of whole entries, as long as enough is left. */
  #trim(): void {
    if (this.#kept === null) return
    const keepFrom = this.#length - this.#kept.recent
    let dropped = 0
    while (dropped < this.#entries.length && (this.#starts[dropped + 1] ?? this.#length) <= keepFrom)
      dropped += 1
    if (dropped === 0) return
    this.#entries.splice(0, dropped)
    this.#starts.splice(0, dropped)
  }

  /** The entry that has a frame: the last that begins at it or before. */
  #entryOf(seq: number): number {
    let low = 0
    let high = this.#starts.length - 1
    // Whoever reads along wants one of the last.
    if ((this.#starts[high] ?? 0) <= seq) return Math.max(0, high)
    while (low < high) {
      const middle = Math.ceil((low + high) / 2)
      if ((this.#starts[middle] ?? 0) <= seq) low = middle
      else high = middle - 1
    }
    return low
  }

  #wakeReaders(): void {
    const woken = this.#waiting
    this.#waiting = NOBODY
    for (const wake of woken) wake()
  }
}

function isBlock(entry: Frame | FrameBlock): entry is FrameBlock {
  return 'at' in entry
}
