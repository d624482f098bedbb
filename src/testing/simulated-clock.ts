import type { Clock } from '../clock.ts'

interface Timer {
  readonly atMs: number
  readonly fire: () => void
}

/** A clock that stands still until a test moves it. */
export class SimulatedClock implements Clock {
  #nowMs: number
  readonly #timers = new Set<Timer>()

  /** Milliseconds since 1970; some moment of 2023 when left out. */
  constructor(startMs = 1_700_000_000_000) {
    this.#nowMs = startMs
  }

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

  /** Moves time on. Timers fire in the order of their times, those set meanwhile included; each at its own time. */
  advance(byMs: number): void {
    const untilMs = this.#nowMs + byMs
    for (let timer = this.#next(untilMs); timer !== null; timer = this.#next(untilMs)) {
      this.#timers.delete(timer)
      this.#nowMs = Math.max(this.#nowMs, timer.atMs)
      timer.fire()
    }
    this.#nowMs = untilMs
  }

  #next(untilMs: number): Timer | null {
    let next: Timer | null = null
    for (const timer of this.#timers)
      if (timer.atMs <= untilMs && (next === null || timer.atMs < next.atMs)) next = timer
    return next
  }
}
