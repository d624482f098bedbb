import type { Clock } from '../../clock.ts'
import type { Frame } from '../../frames/generated/frame.ts'
import { ApiError, IMPOSTOR, type Api } from './api.ts'
import { backOffMs } from './back-off.ts'
import { readFrameEvents, type Farewell } from './frame-events.ts'

/** How the page stands with the service about one run. */
export type Connection =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'live' }
  | { readonly kind: 'ended'; readonly reason: string | null }
  /** It is tried again at `retryAtMs`; what was read is kept. */
  | {
      readonly kind: 'reconnecting'
      readonly cause: 'lost' | 'too_slow' | 'closing'
      readonly message: string
      readonly retryAtMs: number
      readonly failures: number
    }
  /** Trying again would not help. */
  | {
      readonly kind: 'refused'
      readonly cause: 'token' | 'forbidden' | 'unknown_run' | 'other'
      readonly message: string
    }

// Three times the pause after which the service says that it is still there.
const SILENCE_MS_MAX = 45_000

/** What a feed is given. */
export interface RunFeedOptions {
  readonly api: Pick<Api, 'frameStream' | 'doubt'>
  readonly runId: string
  readonly clock: Clock
  /** From 0 up to 1. */
  readonly random: () => number
  readonly onFrames: (frames: readonly Frame[]) => void
  readonly onConnection: (connection: Connection) => void
}

/**
 * Reads the frames of one run for as long as it goes on. A connection that is lost is made again where it broke, with
 * longer and longer pauses; every frame is given once and in order.
 */
export class RunFeed {
  readonly #options: RunFeedOptions
  readonly #closing = new AbortController()
  #last = -1
  #failures = 0
  #wake: (() => void) | null = null

  constructor(options: RunFeedOptions) {
    this.#options = options
  }

  /** Resolves when the run has ended, the service refuses, or the feed is closed. Call it once. */
  async start(): Promise<void> {
    this.#say({ kind: 'connecting' })
    for (;;) {
      const next = await this.#readOnce()
      if (this.#closing.signal.aborted) return
      this.#say(next)
      if (next.kind !== 'reconnecting') return
      await this.#pauseUntil(next.retryAtMs)
      if (this.#closing.signal.aborted) return
    }
  }

  /** Ends the pause before the next try. */
  retryNow(): void {
    this.#wake?.()
  }

  close(): void {
    this.#closing.abort()
    this.#wake?.()
  }

  async #readOnce(): Promise<Connection> {
    const { api, runId, onFrames } = this.#options
    const silence = this.#watchSilence()
    try {
      const signal = AbortSignal.any([this.#closing.signal, silence.signal])
      const stream = await api.frameStream(runId, this.#last, signal)
      this.#say({ kind: 'live' })
      for await (const { frames, farewell } of readFrameEvents(stream, this.#last, silence.heard)) {
        if (this.#closing.signal.aborted) return { kind: 'connecting' }
        const last = frames.at(-1)
        if (last !== undefined) {
          this.#last = last.seq
          this.#failures = 0
          onFrames(frames)
        }
        if (farewell !== null) return this.#afterFarewell(farewell)
      }
      return this.#retry('lost', 'the connection was closed', null)
    } catch (error) {
      return this.#afterFailure(error)
    } finally {
      silence.end()
    }
  }

  /**
   * The service says something every few seconds, if only that it is there. A machine that slept or has changed its
   * network may wait for ever on a connection that is gone.
   */
  #watchSilence(): { readonly signal: AbortSignal; readonly heard: () => void; readonly end: () => void } {
    const { clock } = this.#options
    const silent = new AbortController()
    let heardMs = clock.now()
    const look = (): void => {
      const dueMs = heardMs + SILENCE_MS_MAX
      if (clock.now() >= dueMs) silent.abort(new Error('nothing was heard of the service for too long'))
      else takeBack = clock.setTimer(dueMs, look)
    }
    let takeBack = clock.setTimer(heardMs + SILENCE_MS_MAX, look)
    return { signal: silent.signal, heard: () => void (heardMs = clock.now()), end: () => takeBack() }
  }

  #afterFarewell({ kind, reason }: Farewell): Connection {
    switch (kind) {
      case 'end':
        return { kind: 'ended', reason }
      case 'too_slow':
        return this.#retry('too_slow', reason ?? 'this page took frames too slowly', null)
      case 'closing':
        return this.#retry('closing', reason ?? 'the service is stopping', null)
      case 'error':
        return { kind: 'refused', cause: 'other', message: reason ?? 'the log cannot be read on' }
    }
  }

  #afterFailure(error: unknown): Connection {
    if (!(error instanceof ApiError)) {
      return this.#retry('lost', error instanceof Error ? error.message : 'the connection broke', null)
    }
    const { status, code, message, retryAfterMs } = error
    if (status === 401 || code === IMPOSTOR) return { kind: 'refused', cause: 'token', message }
    if (status === 403) return { kind: 'refused', cause: 'forbidden', message }
    if (status === 404) return { kind: 'refused', cause: 'unknown_run', message }
    if (status >= 400 && status < 500 && status !== 408 && status !== 429) {
      return { kind: 'refused', cause: 'other', message }
    }
    return this.#retry('lost', message, retryAfterMs)
  }

  #retry(cause: 'lost' | 'too_slow' | 'closing', message: string, retryAfterMs: number | null): Connection {
    const { api, clock, random } = this.#options
    this.#failures += 1
    api.doubt()
    const waitMs = Math.max(backOffMs(this.#failures, random()), retryAfterMs ?? 0)
    return { kind: 'reconnecting', cause, message, retryAtMs: clock.now() + waitMs, failures: this.#failures }
  }

  async #pauseUntil(atMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const takeBack = this.#options.clock.setTimer(atMs, resolve)
    this.#wake = resolve
    await promise
    takeBack()
    this.#wake = null
  }

  #say(connection: Connection): void {
    this.#options.onConnection(connection)
  }
}
