import type { Clock } from '../src/clock.ts'

interface Timer {
  readonly atMs: number
  readonly fire: () => void
}

/** A clock that stands still until a test moves it. */
export class ManualClock implements Clock {
  #nowMs = 1_000_000
  readonly #timers = new Set<Timer>()

  readonly now = (): number => this.#nowMs

  readonly setTimer = (atMs: number, fire: () => void): (() => void) => {
    const timer = { atMs, fire }
    this.#timers.add(timer)
    return () => void this.#timers.delete(timer)
  }

  /** When each armed timer is due, earliest first. */
  get armed(): readonly number[] {
    return Array.from(this.#timers, ({ atMs }) => atMs).sort((a, b) => a - b)
  }

  /** Timers that are armed and have not fired. */
  get timersArmed(): number {
    return this.#timers.size
  }

  advance(byMs: number): void {
    this.#nowMs += byMs
    for (const timer of Array.from(this.#timers)) {
      if (timer.atMs > this.#nowMs) continue
      this.#timers.delete(timer)
      timer.fire()
    }
  }
}
