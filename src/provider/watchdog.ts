import type { Clock } from '../clock.ts'
import type { STOP_RULES } from './retry-table.ts'

/** What put an end to an exchange from our side. */
export type StopCause = keyof typeof STOP_RULES

/**
 * The limits of one exchange, and the caller's signal. Whatever ends the exchange calls `end`: after that no timer and
 * no listener is left.
 */
export class Watchdog {
  readonly #clock: Clock
  readonly #caller: AbortSignal
  readonly #onStop: (cause: StopCause) => void
  readonly #timers = new Map<StopCause, () => void>()
  #isEnded = false

  /** `onStop` is told what ran out first, once. */
  constructor(clock: Clock, caller: AbortSignal, onStop: (cause: StopCause) => void) {
    this.#clock = clock
    this.#caller = caller
    this.#onStop = onStop
    caller.addEventListener('abort', this.#onAbort, { once: true })
  }

  /** Starts a limit, or starts it anew. */
  arm(cause: StopCause, ms: number): void {
    this.disarm(cause)
    if (this.#isEnded) return
    this.#timers.set(
      cause,
      this.#clock.setTimer(this.#clock.now() + ms, () => this.#stop(cause)),
    )
  }

  disarm(cause: StopCause): void {
    this.#timers.get(cause)?.()
    this.#timers.delete(cause)
  }

  /** Lets go of everything. */
  end(): void {
    this.#isEnded = true
    for (const takeBack of this.#timers.values()) takeBack()
    this.#timers.clear()
    this.#caller.removeEventListener('abort', this.#onAbort)
  }

  readonly #onAbort = (): void => this.#stop('aborted')

  #stop(cause: StopCause): void {
    if (this.#isEnded) return
    this.end()
    this.#onStop(cause)
  }
}
