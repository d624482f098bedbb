import { readFileSync } from 'node:fs'
import { createHistogram } from 'node:perf_hooks'

const TICK_MS = 10
const NS_PER_MS = 1e6

/**
 * How late the event loop is by its own doing. On a machine that others use, much of a delay is a core that somebody else
 * has; what the system says about that is taken off. Where it says nothing, nothing is.
 */
export class OwnDelay {
  readonly #histogram = createHistogram()
  #timer: NodeJS.Timeout | null = null
  #lastMs = 0
  #lastWaitedMs = 0

  start(): void {
    this.#note()
    this.#timer = setInterval(() => this.#tick(), TICK_MS).unref()
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer)
  }

  reset(): void {
    this.#histogram.reset()
  }

  get p99Ms(): number {
    return this.#histogram.percentile(99) / NS_PER_MS
  }

  #tick(): void {
    const lateMs = performance.now() - this.#lastMs - TICK_MS
    const ownMs = lateMs - (waitedForCoreMs() - this.#lastWaitedMs)
    this.#histogram.record(Math.max(1, Math.round(ownMs * NS_PER_MS)))
    this.#note()
  }

  #note(): void {
    this.#lastMs = performance.now()
    this.#lastWaitedMs = waitedForCoreMs()
  }
}

/** How long the main thread could have run and had no core, since it began; 0 where the system does not say. */
export function waitedForCoreMs(): number {
  try {
    const [, waitedNs = '0'] = readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ')
    return Number(waitedNs) / NS_PER_MS
  } catch {
    return 0
  }
}
