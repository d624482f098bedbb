import type { Clock } from '../clock.ts'
import type { STOP_RULES } from './retry-table.ts'

/** What put an end to an exchange from our side. */
export type StopCause = keyof typeof STOP_RULES

const LIMITS = ['connect', 'headers', 'idle', 'progress', 'total'] as const
type Limit = (typeof LIMITS)[number]
const NEVER = Number.POSITIVE_INFINITY

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
  readonly #onStop: (cause: StopCause) => void
  readonly #due: Record<Limit, number> = {
    connect: NEVER,
    headers: NEVER,
    idle: NEVER,
    progress: NEVER,
    total: NEVER,
  }
  #timerAt = NEVER
  #takeBack: (() => void) | null = null
  #isEnded = false

  /** `onStop` is told what ran out first, once. */
  constructor(clock: Clock, caller: AbortSignal, onStop: (cause: StopCause) => void) {
    this.#clock = clock
    this.#caller = caller
    this.#onStop = onStop
    caller.addEventListener('abort', this.#onAbort, { once: true })
  }

  /** Starts a limit, or starts it anew. */
  arm(cause: Limit, ms: number): void {
    if (this.#isEnded) return
    const at = this.#clock.now() + ms
    this.#due[cause] = at
    if (at < this.#timerAt) this.#set(at, at)
  }

  disarm(cause: Limit): void {
    this.#due[cause] = NEVER
  }

  /** Lets go of everything. */
  end(): void {
    this.#isEnded = true
    this.#takeBack?.()
    this.#takeBack = null
    this.#caller.removeEventListener('abort', this.#onAbort)
  }

  /** Sets the timer for a limit. The clock may have been set back since that was started: then it rings at another time. */
  #set(at: number, ringsAt: number): void {
    this.#takeBack?.()
    this.#timerAt = at
    this.#takeBack = this.#clock.setTimer(ringsAt, () => this.#ring())
  }

  #ring(): void {
    const reached = this.#timerAt
    this.#takeBack = null
    this.#timerAt = NEVER
    let first: Limit = 'total'
    for (const limit of LIMITS) if (this.#due[limit] < this.#due[first]) first = limit
    const at = this.#due[first]
    if (at <= reached) this.#stop(first)
    else if (at !== NEVER) this.#set(at, this.#clock.now() + at - reached)
  }

  readonly #onAbort = (): void => this.#stop('aborted')

  #stop(cause: StopCause): void {
    if (this.#isEnded) return
    this.end()
    this.#onStop(cause)
  }
}
