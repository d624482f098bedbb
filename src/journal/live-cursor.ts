import type { Frame } from '../frames/generated/frame.ts'
import { frameChars } from './frame-chars.ts'
import { firstOf, type FrameCursor, type SkippingCursor } from './frame-cursor.ts'
import { nextTurn } from './next-turn.ts'

/** What a place in a live log needs of it. */
export interface LiveLog {
  /** The number of the first one in memory. */
  readonly first: number
  readonly length: number
  readonly isEnded: boolean
  /** The frames of a range that are in memory. */
  slice(from: number, to: number): readonly Frame[]
  /** A place among the frames that are not in memory any more. */
  older(from: number): SkippingCursor
  /** Has somebody called once, with the next frame or the end. */
  listen(wake: () => void): void
  /** Takes that back. */
  forget(wake: () => void): void
}

/** A place in the log of a run that this process drives. */
export class LiveCursor implements FrameCursor {
  readonly #log: LiveLog
  readonly #onChange = (): void => this.#look()
  /** Kept once it was needed: whoever falls behind again goes on from where it was, and no row is read twice. */
  #older: SkippingCursor | null = null
  #at: number
  #waiting: Promise<void> | null = null
  #resolve: (() => void) | null = null
  #isClosed = false

  constructor(log: LiveLog, from: number) {
    this.#log = log
    this.#at = firstOf(from)
  }

  get at(): number {
    return this.#at
  }

  get isEnded(): boolean {
    return this.#isClosed || (this.#log.isEnded && this.#at >= this.#log.length)
  }

  get isBehind(): boolean {
    return !this.#isClosed && this.#at < this.#log.first
  }

  take(maxFrames: number, maxChars = Number.POSITIVE_INFINITY): readonly Frame[] {
    if (this.#isClosed) return []
    const taken = this.isBehind ? this.#takeOlder(maxFrames, maxChars) : this.#takeRecent(maxFrames, maxChars)
    this.#at += taken.length
    return taken
  }

  changed(): Promise<void> {
    if (this.isBehind) return nextTurn()
    if (this.isEnded || this.#at < this.#log.length) return Promise.resolve()
    if (this.#waiting === null) {
      // Not `withResolvers`: the way to reject is kept as long as somebody waits, and nobody ever does.
      this.#waiting = new Promise((resolve) => {
        this.#resolve = resolve
      })
      this.#log.listen(this.#onChange)
    }
    return this.#waiting
  }

  close(): void {
    this.#isClosed = true
    this.#log.forget(this.#onChange)
    this.#older?.close()
    this.#older = null
    this.#wake()
  }

  #takeRecent(maxFrames: number, maxChars: number): readonly Frame[] {
    const taken = this.#log.slice(this.#at, this.#at + maxFrames)
    if (!Number.isFinite(maxChars)) return taken
    let chars = 0
    for (const [at, frame] of taken.entries()) {
      chars += frameChars(frame)
      if (chars > maxChars && at > 0) return taken.slice(0, at)
    }
    return taken
  }

  // Not beyond what memory begins with: from there on it is the log of this run that counts, whoever writes to the store.
  #takeOlder(maxFrames: number, maxChars: number): readonly Frame[] {
    this.#older ??= this.#log.older(this.#at)
    this.#older.skipTo(this.#at)
    return this.#older.take(Math.min(maxFrames, this.#log.first - this.#at), maxChars)
  }

  #look(): void {
    // One that is ahead of the log has nothing to take yet.
    if (this.isEnded || this.#at < this.#log.length) this.#wake()
    else this.#log.listen(this.#onChange)
  }

  #wake(): void {
    const resolve = this.#resolve
    this.#waiting = null
    this.#resolve = null
    resolve?.()
  }
}
