import type { Clock } from '../clock.ts'
import type { Redactor } from '../frames/redactor.ts'
import type { Metrics } from './metrics.ts'
import { FrameView } from './frame-view.ts'
import { tooMany } from './request-refusal.ts'
import type { RunFeed } from './run-feed.ts'
import { SseReader } from './sse-reader.ts'

export interface SseReadersOptions {
  readonly readersMax: number
  readonly clock: Clock
  readonly redactor: Redactor
  readonly metrics: Metrics
  /** Called when a client has left a run and no other reads it. */
  readonly onDeserted: (runId: string) => void
}

const LOOK_EVERY_MS = 1_000
const RETRY_SECONDS = 5

/** Everybody who reads a run at the moment. One timer looks after all of them. */
export class SseReaders {
  readonly #options: SseReadersOptions
  readonly #readers = new Set<SseReader>()
  readonly #perRun = new Map<string, number>()
  #disarm: (() => void) | null = null

  constructor(options: SseReadersOptions) {
    this.#options = options
  }

  get count(): number {
    return this.#readers.size
  }

  /** Throws `too_many` when no further reader is taken. */
  checkRoom(): void {
    const { readersMax } = this.#options
    if (this.#readers.size >= readersMax)
      throw tooMany(`there are ${readersMax} streams already`, RETRY_SECONDS)
  }

  /** The body for a new reader of a run, from the frame of a number on. The feed is the reader's from here on. */
  open(runId: string, feed: RunFeed, from: number): ReadableStream<Uint8Array> {
    const { clock, redactor, metrics, onDeserted } = this.#options
    const reader = new SseReader({
      feed,
      view: new FrameView(redactor, from),
      now: clock.now,
      isShared: () => (this.#perRun.get(runId) ?? 0) > 1,
      onSent: (frames, bytes) => metrics.sent(frames, bytes),
      onClosed: (why) => {
        this.#readers.delete(reader)
        metrics.readerClosed(why)
        const isLast = this.#forget(runId)
        if (isLast && why === 'gone') onDeserted(runId)
        if (this.#readers.size === 0) this.#rest()
      },
    })
    this.#readers.add(reader)
    this.#perRun.set(runId, (this.#perRun.get(runId) ?? 0) + 1)
    this.#arm()
    return reader.body
  }

  /** Tells everybody that the service is being stopped. */
  leave(): void {
    for (const reader of this.#readers) reader.leave()
  }

  #forget(runId: string): boolean {
    const left = (this.#perRun.get(runId) ?? 1) - 1
    if (left > 0) this.#perRun.set(runId, left)
    else this.#perRun.delete(runId)
    return left === 0
  }

  #arm(): void {
    const { clock } = this.#options
    this.#disarm ??= clock.setTimer(clock.now() + LOOK_EVERY_MS, () => {
      this.#disarm = null
      const now = clock.now()
      for (const reader of this.#readers) reader.tick(now)
      if (this.#readers.size > 0) this.#arm()
    })
  }

  #rest(): void {
    this.#disarm?.()
    this.#disarm = null
  }
}
