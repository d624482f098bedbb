import type { Clock } from '../clock.ts'
import { LoopchartError } from '../errors.ts'
import type { Frame } from '../frames/generated/frame.ts'
import type { FrameCursor } from '../journal/frame-cursor.ts'
import type { RunStore } from '../journal/run-store.ts'
import type { StartedRun } from '../loop/run.ts'

/** What knows which runs are driven here. */
export interface DrivenRuns {
  /** The run while it is driven here. */
  live(runId: string): StartedRun | null
  /** Calls `wake` when the run is taken up here; the answer takes that back. */
  onDriven(runId: string, wake: () => void): () => void
}

export interface RunFeedOptions {
  readonly runId: string
  readonly store: RunStore
  readonly driven: DrivenRuns
  /** Says when the store is looked at again for what another process has appended. */
  readonly clock: Clock
}

/**
 * A place in the log of a run, from its first frame on, whoever drives it: in the live log while the run is driven here, in the store otherwise,
 * and over from one to the other without a gap or a repeat when it is let go of or taken up. Nothing is queued.
 */
export class RunFeed {
  readonly #options: RunFeedOptions
  readonly #forgetWake: () => void
  #cursor: FrameCursor
  #run: StartedRun | null
  #last: Frame | null = null
  #isClosed = false

  /** Throws `run_unknown` when there is no such log. */
  constructor(options: RunFeedOptions) {
    const { runId, store, driven, clock } = options
    this.#options = options
    this.#run = driven.live(runId)
    // Said here: the store would name the file that it is, and whoever asks may be on another machine.
    if (this.#run === null && store.find(runId) === null) {
      throw new LoopchartError('run_unknown', `there is no run ${runId}`)
    }
    this.#cursor = this.#run === null ? store.cursor(runId, 0, clock) : this.#run.log.cursor(0)
    this.#forgetWake = driven.onDriven(runId, () => {
      // Whoever waits for the store is woken, and finds the live log.
      if (this.#run === null) this.#cursor.close()
    })
  }

  /** The number of the next frame. */
  get at(): number {
    return this.#cursor.at
  }

  /** How many frames the log has, as far as this process can tell without reading them. */
  get length(): number {
    if (this.#run !== null && !this.#isLeft) return this.#run.log.length
    return this.#options.store.find(this.#options.runId)?.frames ?? this.#cursor.at
  }

  /** Whether somebody drives the run, here or elsewhere, so that its log may grow at any moment. */
  get isDriven(): boolean {
    if (this.#run !== null && !this.#isLeft) return true
    return this.#options.store.find(this.#options.runId)?.owner != null
  }

  get isBehind(): boolean {
    return this.#cursor.isBehind
  }

  /** The frame that it gave last. */
  get last(): Frame | null {
    return this.#last
  }

  /** The run has ended and its last frame was given, or the feed was closed. */
  get isOver(): boolean {
    return this.#isClosed || this.#last?.type === 'run_ended'
  }

  /** What is there now. Throws as `RunStore.read` does. */
  take(framesMax: number, charsMax: number): readonly Frame[] {
    if (this.isOver) return []
    let frames = this.#cursor.take(framesMax, charsMax)
    // The log that it was in has ended without the run.
    if (frames.length === 0 && this.#cursor.isEnded && !this.isOver) {
      this.#goOver()
      frames = this.#cursor.take(framesMax, charsMax)
    }
    this.#last = frames.at(-1) ?? this.#last
    return frames
  }

  /** Resolves when there may be more to take. While `isBehind`, after a turn of the event loop. */
  changed(): Promise<void> {
    return this.#cursor.changed()
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#forgetWake()
    this.#cursor.close()
  }

  /** Whether the live log that it is in has ended. */
  get #isLeft(): boolean {
    return this.#cursor.isEnded
  }

  #goOver(): void {
    const { runId, store, driven, clock } = this.#options
    const { at } = this.#cursor
    const live = driven.live(runId)
    this.#cursor.close()
    this.#run = live === this.#run ? null : live
    this.#cursor = this.#run === null ? store.cursor(runId, at, clock) : this.#run.log.cursor(at)
  }
}
