import { AsyncResource } from 'node:async_hooks'

import { systemClock, type Clock } from '../clock.ts'

/** What an alarm looks after. */
export interface Watched {
  /** Where it stands in the list of its alarm. */
  index: number
  /** When the first of its limits is reached; infinite: it has none. */
  readonly firstAt: number
  /** The first of its limits is reached. */
  onReached(): void
}

// The timer belongs to nobody who sends a request: what is kept in such a context would be kept as long as it waits.
const OWN_CONTEXT = new AsyncResource('loopchart.alarm')

/** Milliseconds since the process began. The cheapest of Node's clocks that nobody can set. */
function uptimeMs(): number {
  return process.uptime() * 1000
}

const alarms = new WeakMap<Clock, Alarm>()

/** The alarm of all requests that wait by a clock. */
export function alarmOf(clock: Clock): Alarm {
  const known = alarms.get(clock)
  if (known !== undefined) return known
  const alarm = new Alarm(clock)
  alarms.set(clock, alarm)
  return alarm
}

/**
 * One timer for many requests, which is due with the first of their limits or before. Hundreds may wait at once, and hardly
 * one is ever late: a timer for each would be most of what is kept for it. There is none while nobody waits.
 */
class Alarm {
  readonly #clock: Clock
  readonly #elapsed: () => number
  // Times are counted from here: a small whole number needs no object of its own, as one since 1970 does.
  readonly #originMs: number
  readonly #watched: Watched[] = []
  #timerAt = 0
  #takeBack: (() => void) | null = null

  constructor(clock: Clock) {
    this.#clock = clock
    // The machine's clock may be set, and its timers do not follow: neither do limits.
    this.#elapsed = clock === systemClock ? uptimeMs : () => clock.now()
    this.#originMs = this.#elapsed()
  }

  /** Milliseconds by which limits are told. */
  now(): number {
    // Rounded up, so that no limit is shorter; and whole, so that V8 keeps it as a small number.
    return Math.ceil(this.#elapsed() - this.#originMs)
  }

  add(watched: Watched): void {
    watched.index = this.#watched.push(watched) - 1
  }

  remove(watched: Watched): void {
    const last = this.#watched.pop()
    if (last !== undefined && last !== watched) {
      this.#watched[watched.index] = last
      last.index = watched.index
    }
    if (this.#watched.length > 0) return
    this.#takeBack?.()
    this.#takeBack = null
  }

  /** Something is to be told at a time. */
  expect(at: number): void {
    if (this.#takeBack === null || at < this.#timerAt) this.#set(at, this.now())
  }

  #set(at: number, nowMs: number): void {
    this.#takeBack?.()
    this.#timerAt = at
    const dueMs = this.#clock.now() + at - nowMs
    this.#takeBack = OWN_CONTEXT.runInAsyncScope(() => this.#clock.setTimer(dueMs, () => this.#ring()))
  }

  #ring(): void {
    this.#takeBack = null
    // A clock that was set back makes no limit longer.
    const nowMs = Math.max(this.#timerAt, this.now())
    const reached: Watched[] = []
    let nextAt = Number.POSITIVE_INFINITY
    for (const watched of this.#watched) {
      const { firstAt } = watched
      if (firstAt <= nowMs) reached.push(watched)
      else if (firstAt < nextAt) nextAt = firstAt
    }
    if (nextAt !== Number.POSITIVE_INFINITY) this.#set(nextAt, nowMs)
    for (const watched of reached) watched.onReached()
  }
}
