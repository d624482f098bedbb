import type { Frame } from '../frames/generated/frame.ts'
import type { FrameCursor } from './frame-cursor.ts'

const FRAMES_A_TAKE = 256
// A promise that somebody has waited for is old to V8, and keeps what it is resolved with until the next collection of
// everything, although nobody has it any more. So it brings few frames; the rest comes with the next one, which is new.
const FRAMES_AFTER_A_WAIT = 2
const NOTHING: readonly Frame[] = []

/**
 * Reads a log through a cursor, frame by frame. Written out where a generator would do: a generator waits three times
 * for each frame, and there is one a token.
 */
export class CursorReader<T extends object | string> implements AsyncIterableIterator<T> {
  readonly #cursor: FrameCursor
  readonly #pick: (frame: Frame) => T | null
  #taken: readonly Frame[] = NOTHING
  #next = 0

  constructor(cursor: FrameCursor, pick: (frame: Frame) => T | null) {
    this.#cursor = cursor
    this.#pick = pick
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<IteratorResult<T, undefined>> {
    const value = this.#pickNext()
    return value === null ? this.#wait() : Promise.resolve({ value, done: false })
  }

  return(): Promise<IteratorResult<T, undefined>> {
    this.#cursor.close()
    this.#taken = NOTHING
    return Promise.resolve({ value: undefined, done: true })
  }

  #pickNext(): T | null {
    while (this.#next < this.#taken.length) {
      const frame = this.#taken[this.#next]
      this.#next += 1
      const value = frame === undefined ? null : this.#pick(frame)
      if (value !== null) return value
    }
    // It may be long until there are more.
    this.#taken = NOTHING
    this.#next = 0
    return null
  }

  async #wait(): Promise<IteratorResult<T, undefined>> {
    const cursor = this.#cursor
    for (;;) {
      // Others wait too: what must be read from a store is read in turns.
      if (cursor.isBehind) await cursor.changed()
      // Somebody who did not wait for one frame before asking for the next may have taken for both.
      const value = this.#pickNext() ?? this.#takeMore()
      if (value !== null) return { value, done: false }
      if (cursor.isEnded) return { value: undefined, done: true }
      if (!cursor.isBehind) await cursor.changed()
    }
  }

  #takeMore(): T | null {
    this.#taken = this.#cursor.take(FRAMES_A_TAKE)
    this.#next = 0
    return this.#pickNext()
  }
}

/** Reads a log through a cursor, all that is there at once: what waits is the batch, not each frame. */
export class BatchReader implements AsyncIterableIterator<readonly Frame[]> {
  readonly #cursor: FrameCursor

  constructor(cursor: FrameCursor) {
    this.#cursor = cursor
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<IteratorResult<readonly Frame[], undefined>> {
    const cursor = this.#cursor
    if (cursor.isBehind) return this.#wait(FRAMES_A_TAKE)
    try {
      const value = cursor.take(FRAMES_A_TAKE)
      return value.length > 0 ? Promise.resolve({ value, done: false }) : this.#wait(FRAMES_AFTER_A_WAIT)
    } catch (error) {
      // A store that is looked into may be damaged.
      return Promise.reject(error)
    }
  }

  #wait(most: number): Promise<IteratorResult<readonly Frame[], undefined>> {
    const cursor = this.#cursor
    if (cursor.isEnded) return Promise.resolve({ value: undefined, done: true })
    return cursor.changed().then(() => {
      const value = cursor.take(most)
      return value.length > 0 ? { value, done: false } : this.#wait(most)
    })
  }

  return(): Promise<IteratorResult<readonly Frame[], undefined>> {
    this.#cursor.close()
    return Promise.resolve({ value: undefined, done: true })
  }
}
