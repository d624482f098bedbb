import type { Frame } from '../frames/generated/frame.ts'

/**
 * A place in a log that only goes forward. It is how a log is read, live or stored, and nothing is queued for it: what
 * has not been taken is in the log.
 *
 * `take` until it gives nothing and `isBehind` is false; then, unless `isEnded`, wait for `changed`. While `isBehind`,
 * leave the event loop a turn between two of them, which waiting for `changed` does as well.
 */
export interface FrameCursor {
  /** The number of the next frame that it gives. */
  readonly at: number
  /** No frame will follow those that it gave: the run has ended, a live log has, or the cursor was closed. */
  readonly isEnded: boolean
  /**
   * More is known to be there, and must be read from the store: a `take` does some of that and stops, with few frames or
   * none, so that nobody waits for it. The next one goes on, and belongs into another turn of the event loop.
   */
  readonly isBehind: boolean
  /**
   * What is there now, in order and at once: at most so many frames, and no more than about so many characters of JSON
   * unless the first one has more by itself. Throws as `RunStore.read` does where it reads from a store.
   */
  take(maxFrames: number, maxChars?: number): readonly Frame[]
  /**
   * Resolves when there may be more to take, or there never will be. A live log wakes it only then. That of a stored one
   * is looked at once a second by whoever waits: another process may append to it.
   */
  changed(): Promise<void>
  /** Ends the cursor; who waits for it is woken. */
  close(): void
}

/** A cursor that can be sent forward. */
export interface SkippingCursor extends FrameCursor {
  /** Has the frames before a number left out. One that it has passed changes nothing. */
  skipTo(at: number): void
}

/** The log of a run as a reader needs it. */
export interface ReadableLog {
  /** How many frames it has. */
  readonly length: number
  /** A place in the log, from the frame of a number on. */
  cursor(from: number): FrameCursor
}

/** The number that a cursor begins with: the first from a number on, which may be none. */
export function firstOf(from: number): number {
  return from > 0 ? Math.ceil(from) : 0
}
