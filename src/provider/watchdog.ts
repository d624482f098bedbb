import type { Clock } from '../clock.ts'
import type { STOP_RULES } from './retry-table.ts'

/** What put an end to an exchange from our side. */
export type StopCause = keyof typeof STOP_RULES

interface ArmedTimer {
  readonly at: number
  readonly takeBack: () => void
}

const LIMITS = ['connect', 'headers', 'idle', 'progress', 'total'] as const

/**
 * The limits of one exchange, and the caller's signal. Whatever ends the exchange calls `end`: after that no timer and
 * no listener is left.
 */
export class Watchdog {
  readonly #clock: Clock
  readonly #caller: AbortSignal
  readonly #onStop: (cause: StopCause) => void
  readonly #timers: { [Cause in StopCause]?: ArmedTimer | undefined } = {}
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
    if (this.#isEnded) return
    const at = this.#clock.now() + ms
    // A stream starts its limits anew with every piece, and many pieces come within a millisecond.
    if (this.#timers[cause]?.at === at) return
    this.disarm(cause)
    this.#timers[cause] = { at, takeBack: this.#clock.setTimer(at, () => this.#stop(cause)) }
  }

  disarm(cause: StopCause): void {
    this.#timers[cause]?.takeBack()
    this.#timers[cause] = undefined
  }

  /** Lets go of everything. */
  end(): void {
    this.#isEnded = true
    for (const cause of LIMITS) this.disarm(cause)
    this.#caller.removeEventListener('abort', this.#onAbort)
  }

  readonly #onAbort = (): void => this.#stop('aborted')

  #stop(cause: StopCause): void {
    if (this.#isEnded) return
    this.end()
    this.#onStop(cause)
  }
}
