/** Hears of what a process is told when nobody else is: each is a fault of the soak. */
export class Alarms {
  readonly all: string[] = []

  constructor() {
    process.on('unhandledRejection', this.#onRejection)
    process.on('uncaughtException', this.#onException)
    process.on('warning', this.#onWarning)
  }

  stop(): void {
    process.off('unhandledRejection', this.#onRejection)
    process.off('uncaughtException', this.#onException)
    process.off('warning', this.#onWarning)
  }

  readonly #onRejection = (reason: unknown): void => this.#add('unhandled rejection', reason)
  readonly #onException = (error: unknown): void => this.#add('uncaught exception', error)

  // MaxListenersExceededWarning among them. What is experimental in Node is no news.
  readonly #onWarning = (warning: Error): void => {
    if (warning.name !== 'ExperimentalWarning') this.#add('warning', warning)
  }

  #add(what: string, cause: unknown): void {
    this.all.push(`${what}: ${cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)}`)
  }
}
