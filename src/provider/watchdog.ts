import type { Clock } from '../clock.ts'
import type { STOP_RULES } from './retry-table.ts'

/** What put an end to an exchange from our side. */
export type StopCause = keyof typeof STOP_RULES

// Of those that are due at once the first is named.
const LIMITS = ['total', 'connect', 'headers', 'idle', 'progress'] as const
type Limit = (typeof LIMITS)[number]

/** Is told what ran out first, once. */
export interface StopListener {
  onStop(cause: StopCause): void
}

/**
 * The limits of one exchange, and the caller's signal. Whatever ends the exchange calls `end`: after that no timer and
 * no listener is left.
 *
 * All limits have one timer, which is due with the first of them or before. Most are moved on or taken back long before
 * they are reached, and that is a number that changes; a timer that finds nothing due is set for what comes first.
 */
export class Watchdog {
  readonly #clock: Clock
  readonly #caller: AbortSignal
  readonly #listener: StopListener | StopListener['onStop']
  // All times are counted from here: a small whole number needs no object of its own, as one since 1970 does.
  readonly #startMs: number
  readonly #due: Record<Limit, number | null> = {
    connect: null,
    headers: null,
    idle: null,
    progress: null,
    total: null,
  }
  #timerAt = 0
  #takeBack: (() => void) | null = null
  #isEnded = false

  constructor(clock: Clock, caller: AbortSignal, listener: StopListener | StopListener['onStop']) {
    this.#clock = clock
    this.#caller = caller
    this.#listener = listener
    this.#startMs = clock.now()
    caller.addEventListener('abort', this.#onWake)
  }

  /** Starts a limit, or starts it anew. */
  arm(cause: Limit, ms: number): void {
    if (this.#isEnded) return
    // A whole number already; this is what makes V8 keep it as one.
    const at = Math.ceil(this.#clock.now() - this.#startMs) + ms
    this.#due[cause] = at
    if (this.#takeBack === null || at < this.#timerAt) this.#set(at, this.#startMs + at)
  }

  disarm(cause: Limit): void {
    this.#due[cause] = null
  }

  /** Lets go of everything. */
  end(): void {
    this.#isEnded = true
    this.#takeBack?.()
    this.#takeBack = null
    this.#caller.removeEventListener('abort', this.#onWake)
  }

  /** Sets the timer for a limit. The clock may have been set back since that was started: then it rings at another time. */
  #set(at: number, ringsAt: number): void {
    this.#takeBack?.()
    this.#timerAt = at
    this.#takeBack = this.#clock.setTimer(ringsAt, this.#onWake)
  }

  // One function for the signal and the timer: there is one of them for each request that waits.
  readonly #onWake = (): void => {
    if (this.#caller.aborted) this.#stop('aborted')
    else this.#ring()
  }

  #ring(): void {
    const reached = this.#timerAt
    this.#takeBack = null
    let first: Limit = 'total'
    let firstAt = Number.POSITIVE_INFINITY
    for (const limit of LIMITS) {
      const at = this.#due[limit]
      if (at === null || at >= firstAt) continue
      first = limit
      firstAt = at
    }
    if (firstAt <= reached) this.#stop(first)
    else if (firstAt !== Number.POSITIVE_INFINITY) this.#set(firstAt, this.#clock.now() + firstAt - reached)
  }

  #stop(cause: StopCause): void {
    if (this.#isEnded) return
    this.end()
    if (typeof this.#listener === 'function') this.#listener(cause)
    else this.#listener.onStop(cause)
  }
}
