import { Connection, OWN_CONTEXT, type ConnectionOwner, type Origin } from './connection.ts'

const SWEEP_MS = 1000

/** The connections to one place: as many as there are requests at once, and each kept for a while after its request. */
export class ConnectionPool implements ConnectionOwner {
  isKept = false
  readonly #origin: Origin
  readonly #now: () => number
  #idle: Connection[] = []
  #sweeper: NodeJS.Timeout | null = null

  /** `now` counts milliseconds from anywhere. */
  constructor(origin: Origin, now: () => number = () => process.uptime() * 1000) {
    this.#origin = origin
    this.#now = now
  }

  get idleCount(): number {
    return this.#idle.length
  }

  /** One that is free, the last used first; or a new one. */
  take(): Connection {
    for (let last = this.#idle.pop(); last !== undefined; last = this.#idle.pop()) {
      if (this.#isGood(last)) return last
      last.drop()
    }
    return Connection.open(this.#origin, this)
  }

  /** Lets go of what has waited long enough. */
  sweep(): void {
    const waiting = this.#idle
    this.#idle = waiting.filter((idle) => this.#isGood(idle))
    for (const idle of waiting) if (!this.#isGood(idle)) idle.drop()
    if (this.#idle.length > 0) this.#sweeper?.refresh()
    else this.#sweeper = null
  }

  onFree(connection: Connection, reuseMs: number): void {
    connection.goodUntil = this.#now() + reuseMs
    this.#idle.push(connection)
    // Nothing that only waits keeps a process from ending.
    this.#sweeper ??= OWN_CONTEXT.runInAsyncScope(() => setTimeout(() => this.sweep(), SWEEP_MS).unref())
  }

  #isGood(connection: Connection): boolean {
    return connection.isOpen && connection.goodUntil > this.#now()
  }
}
