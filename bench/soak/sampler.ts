import { getEventListeners } from 'node:events'
import { readdirSync, statSync } from 'node:fs'
import { constants, monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks'

import { OwnDelay, waitedForCoreMs } from './own-delay.ts'
import type { Tally } from './tally.ts'

/** What the process was at one moment, and in the time since the moment before. */
export interface Sample {
  /** Since the load began. */
  readonly atMs: number
  readonly rssMb: number
  /** After the last full collection, which nobody asked for; null: there was none yet. */
  readonly heapMb: number | null
  /** What the heap has taken, garbage and room included. */
  readonly heapTotalMb: number
  readonly externalMb: number
  readonly arrayBuffersMb: number
  /** Of the store's file and what is not in it yet. */
  readonly fileMb: number
  /** What keeps the event loop busy, by kind. */
  readonly resources: Readonly<Record<string, number>>
  /** Open file descriptors; null where the system does not list them. */
  readonly descriptors: number | null
  /** On the signal that lasts as long as the soak. */
  readonly signalListeners: number
  readonly processListeners: number
  readonly delayP99Ms: number
  readonly delayMaxMs: number
  /** The share of one core that was used. */
  readonly cpuShare: number
  /** The share of the time in which there was work and no core for it. */
  readonly waitShare: number
  /** Messages that are being answered. */
  readonly underway: number
  /** Messages that came to what they had to come to. */
  readonly answered: number
  readonly unexpected: number
}

/** Of the event loop, over a time. */
export interface LoopDelay {
  readonly p99Ms: number
  readonly maxMs: number
  /** Without the time in which somebody else had the core. */
  readonly ownP99Ms: number
}

export interface SamplerOptions {
  readonly storePath: string
  readonly lasting: AbortSignal
  readonly tally: Tally
}

const MB = 1e6
const NS_PER_MS = 1e6
// What is reported of a loop that is never late is this and a little.
const RESOLUTION_MS = 5

/** Looks at the process whenever it is told to. Nothing of what it does asks for a collection. */
export class Sampler {
  readonly #options: SamplerOptions
  /** Of the time since it last looked. */
  readonly #window = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  readonly #half = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  readonly #ownDelay = new OwnDelay()
  readonly #collections: PerformanceObserver
  #heapBytes: number | null = null
  #startMs = performance.now()
  #cpu = process.cpuUsage()
  #cpuAtMs = this.#startMs
  #waitedMs = waitedForCoreMs()
  #answered = 0

  constructor(options: SamplerOptions) {
    this.#options = options
    this.#collections = new PerformanceObserver((list) => {
      const isFull = list
        .getEntries()
        .some((entry) => collectionKind(entry) === constants.NODE_PERFORMANCE_GC_MAJOR)
      if (isFull) this.#heapBytes = process.memoryUsage().heapUsed
    })
  }

  start(): void {
    this.#startMs = performance.now()
    this.#cpuAtMs = this.#startMs
    this.#cpu = process.cpuUsage()
    this.#collections.observe({ entryTypes: ['gc'] })
    this.#window.enable()
    this.#half.enable()
    this.#ownDelay.start()
  }

  /** From here on the delay counts that is given in the end. */
  beginHalf(): void {
    this.#half.reset()
    this.#ownDelay.reset()
  }

  /** The event loop's delay since the half began. */
  get half(): LoopDelay {
    return {
      p99Ms: this.#half.percentile(99) / NS_PER_MS,
      maxMs: this.#half.max / NS_PER_MS,
      ownP99Ms: this.#ownDelay.p99Ms,
    }
  }

  take(): Sample {
    const { lasting, tally, storePath } = this.#options
    const { rss, heapTotal, external, arrayBuffers } = process.memoryUsage()
    const nowMs = performance.now()
    const cpu = process.cpuUsage(this.#cpu)
    const waitedMs = waitedForCoreMs()
    const sample: Sample = {
      atMs: Math.round(nowMs - this.#startMs),
      rssMb: rss / MB,
      heapMb: this.#heapBytes === null ? null : this.#heapBytes / MB,
      heapTotalMb: heapTotal / MB,
      externalMb: external / MB,
      arrayBuffersMb: arrayBuffers / MB,
      fileMb: (sizeOf(storePath) + sizeOf(`${storePath}-wal`)) / MB,
      resources: countKinds(process.getActiveResourcesInfo()),
      descriptors: countDescriptors(),
      signalListeners: getEventListeners(lasting, 'abort').length,
      processListeners: process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0),
      delayP99Ms: this.#window.percentile(99) / NS_PER_MS,
      delayMaxMs: this.#window.max / NS_PER_MS,
      cpuShare: (cpu.user + cpu.system) / 1000 / (nowMs - this.#cpuAtMs),
      waitShare: (waitedMs - this.#waitedMs) / (nowMs - this.#cpuAtMs),
      underway: tally.underway,
      answered: tally.answered - this.#answered,
      unexpected: tally.unexpectedCount,
    }
    this.#window.reset()
    this.#answered = tally.answered
    this.#cpu = process.cpuUsage()
    this.#cpuAtMs = nowMs
    this.#waitedMs = waitedMs
    return sample
  }

  stop(): void {
    this.#collections.disconnect()
    this.#window.disable()
    this.#half.disable()
    this.#ownDelay.stop()
  }
}

function collectionKind(entry: object): unknown {
  const detail: unknown = 'detail' in entry ? entry.detail : null
  return typeof detail === 'object' && detail !== null && 'kind' in detail ? detail.kind : null
}

function countKinds(kinds: readonly string[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const kind of kinds) counts[kind] = (counts[kind] ?? 0) + 1
  return counts
}

function countDescriptors(): number | null {
  try {
    return readdirSync('/proc/self/fd').length
  } catch {
    return null
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}
