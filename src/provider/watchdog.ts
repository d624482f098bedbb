import type { Clock } from '../clock.ts'
import type { STOP_RULES } from './retry-table.ts'

/** What put an end to an exchange from our side. */
export type StopCause = keyof typeof STOP_RULES

/**
 * The limits of one exchange and the caller's signal, as one signal. Whatever ends the exchange calls `end`: after
 * that no timer and no listener is left.
 */
export class Watchdog {
  /** What ran out first; null: nothing did. */
  cause: StopCause | null = null
  readonly #clock: Clock
  readonly #caller: AbortSignal
  readonly #controller = new AbortController()
  readonly #timers = new Map<StopCause, () => void>()
  #reject: ((reason: unknown) => void) | null = null

  constructor(clock: Clock, caller: AbortSignal) {
    this.#clock = clock
    this.#caller = caller
    if (caller.aborted) this.#stop('aborted')
    else caller.addEventListener('abort', this.#onAbort, { once: true })
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Starts a limit, or starts it anew. */
  arm(cause: StopCause, ms: number): void {
    this.disarm(cause)
    if (this.cause !== null) return
    this.#timers.set(
      cause,
      this.#clock.setTimer(this.#clock.now() + ms, () => this.#stop(cause)),
    )
  }

  disarm(cause: StopCause): void {
    this.#timers.get(cause)?.()
    this.#timers.delete(cause)
  }

  /**
   * The promise, or a rejection as soon as a limit runs out: a fetch that does not listen to its signal must not hold
   * anybody up. One at a time; a race against one lasting promise would keep a reaction for every piece of a body.
   */
  guard<Value>(promise: Promise<Value>): Promise<Value> {
    return new Promise((resolve, reject) => {
      this.#reject = reject
      promise.then(resolve, reject)
      if (this.cause !== null) reject(this.signal.reason)
    })
  }

  /** Lets go of everything; `drop` also of the connection, where the body was not read to its end. */
  end(drop: boolean): void {
    this.#release()
    if (drop) this.#controller.abort()
  }

  readonly #onAbort = (): void => this.#stop('aborted')

  #stop(cause: StopCause): void {
    if (this.cause !== null) return
    this.cause = cause
    this.#release()
    this.#controller.abort()
    this.#reject?.(this.signal.reason)
  }

  #release(): void {
    for (const takeBack of this.#timers.values()) takeBack()
    this.#timers.clear()
    this.#caller.removeEventListener('abort', this.#onAbort)
  }
}
