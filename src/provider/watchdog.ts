import type { Clock } from '../clock.ts'
import { alarmOf, type Watched } from './alarm.ts'
import type { STOP_RULES } from './retry-table.ts'

/** What put an end to an exchange from our side. */
export type StopCause = keyof typeof STOP_RULES

// Of those that are reached at once the first is named.
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
 * Most limits are moved on or taken back long before they are reached, and that is a number that changes; the timer is that
 * of all exchanges.
 */
export class Watchdog implements Watched {
  index = -1
  readonly #alarm: ReturnType<typeof alarmOf>
  readonly #caller: AbortSignal
  /** Null: it has ended. Whoever has waited is old to V8, and would keep what it refers to. */
  #listener: StopListener | StopListener['onStop'] | null
  readonly #due: Record<Limit, number | null> = {
    connect: null,
    headers: null,
    idle: null,
    progress: null,
    total: null,
  }

  constructor(clock: Clock, caller: AbortSignal, listener: StopListener | StopListener['onStop']) {
    this.#alarm = alarmOf(clock)
    this.#caller = caller
    this.#listener = listener
    caller.addEventListener('abort', this.#onAbort)
    this.#alarm.add(this)
  }

  /** Now, for those who start two limits at once. */
  now(): number {
    return this.#alarm.now()
  }

  /** Starts a limit, or starts it anew. */
  arm(cause: Limit, ms: number, nowMs: number = this.#alarm.now()): void {
    if (this.#listener === null) return
    const at = nowMs + ms
    this.#due[cause] = at
    this.#alarm.expect(at)
  }

  disarm(cause: Limit): void {
    this.#due[cause] = null
  }

  /** Lets go of everything. */
  end(): void {
    if (this.#listener === null) return
    this.#listener = null
    this.#alarm.remove(this)
    this.#caller.removeEventListener('abort', this.#onAbort)
  }

  get firstAt(): number {
    return this.#due[this.#first()] ?? Number.POSITIVE_INFINITY
  }

  onReached(): void {
    this.#stop(this.#first())
  }

  #first(): Limit {
    let first: Limit = 'total'
    let firstAt = Number.POSITIVE_INFINITY
    for (const limit of LIMITS) {
      const at = this.#due[limit]
      if (at === null || at >= firstAt) continue
      first = limit
      firstAt = at
    }
    return first
  }

  readonly #onAbort = (): void => this.#stop('aborted')

  #stop(cause: StopCause): void {
    const listener = this.#listener
    this.end()
    if (typeof listener === 'function') listener(cause)
    else listener?.onStop(cause)
  }
}
