import type { Clock } from '../src/clock.ts'

/** A clock that a test moves by hand. */
export class ManualClock implements Clock {
  #nowMs = 1_000_000
  #timers: { atMs: number; fire: () => void }[] = []

  readonly now = (): number => this.#nowMs

  readonly setTimer = (atMs: number, fire: () => void): (() => void) => {
    const timer = { atMs, fire }
    this.#timers.push(timer)
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer)
    }
  }

  get armed(): readonly number[] {
    return this.#timers.map(({ atMs }) => atMs).sort((a, b) => a - b)
  }

  /** Moves time and fires what falls due. */
  advance(ms: number): void {
    this.#nowMs += ms
    const due = this.#timers.filter(({ atMs }) => atMs <= this.#nowMs)
    this.#timers = this.#timers.filter(({ atMs }) => atMs > this.#nowMs)
    for (const { fire } of due) fire()
  }
}
