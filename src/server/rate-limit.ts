import type { Clock } from '../clock.ts'
import { tooMany } from './request-refusal.ts'

const SECOND_MS = 1_000

/** Lets so many requests a second in for each key, and as many at once after a rest. */
export class RateLimit {
  readonly #perSecond: number
  readonly #clock: Clock
  readonly #buckets = new Map<string, { left: number; atMs: number }>()

  constructor(perSecond: number, clock: Clock) {
    this.#perSecond = perSecond
    this.#clock = clock
  }

  /** Counts a request. Throws `too_many` beyond the rate. Keys are those of tokens, of which there are few. */
  take(key: string): void {
    const now = this.#clock.now()
    const bucket = this.#buckets.get(key) ?? { left: this.#perSecond, atMs: now }
    const refilled = ((now - bucket.atMs) / SECOND_MS) * this.#perSecond
    const left = Math.min(this.#perSecond, bucket.left + Math.max(0, refilled))
    const isOver = left < 1
    this.#buckets.set(key, { left: isOver ? left : left - 1, atMs: now })
    if (isOver) throw tooMany(`there are more than ${this.#perSecond} requests a second`, 1)
  }
}
