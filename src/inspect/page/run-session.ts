import type { Clock } from '../../clock.ts'
import type { Frame } from '../../frames/generated/frame.ts'
import { RunHistory } from '../run-history.ts'
import type { RunSummary } from './answers.ts'
import type { Api } from './api.ts'
import { RunFeed, type Connection } from './run-feed.ts'
import { RunMarks } from './run-marks.ts'
import type { RunModel } from './run-model.ts'
import { RunTime } from './run-time.ts'
import { StateVisits } from './state-visits.ts'

/** What a session is given. */
export interface RunSessionOptions {
  readonly api: Pick<Api, 'frameStream' | 'run' | 'doubt'>
  readonly runId: string
  readonly clock: Clock
  /** From 0 up to 1. */
  readonly random: () => number
  /**
   * Calls back once, when the page is drawn next: however much arrives meanwhile, it is taken in and shown once. While
   * a long log is read that may be later, so that the reading has the time.
   */
  readonly beforeNextDrawing: (work: () => void, isReading: boolean) => void
  /** Something of the session has changed. */
  readonly onChange: () => void
}

const SUMMARY_PAUSE_MS = 1000

/** One run as it is read, from the first frame on, with all that is found out about it on the way. */
export class RunSession {
  readonly marks = new RunMarks()
  readonly visits = new StateVisits()
  readonly time = new RunTime()
  readonly #options: RunSessionOptions
  readonly #feed: RunFeed
  readonly #closing = new AbortController()
  readonly #frames: Frame[] = []
  readonly #history = new RunHistory()
  #stepsSeen = 0
  #arrived: (readonly Frame[])[] = []
  #drawing: 'none' | 'later' | 'soon' = 'none'
  #connection: Connection = { kind: 'connecting' }
  #summary: RunSummary | null = null
  #summaryTimer: (() => void) | null = null
  // How far the log went when it was opened; what is behind it is not new.
  #expected: number | null = null
  #version = 0
  #model: RunModel | null = null

  constructor(options: RunSessionOptions) {
    this.#options = options
    this.#feed = new RunFeed({
      ...options,
      onFrames: (frames) => {
        this.#arrived.push(frames)
        this.#draw()
      },
      onConnection: (connection) => {
        this.#connection = connection
        if (connection.kind === 'ended') this.#askSummary(0)
        this.#draw()
      },
    })
  }

  start(): void {
    void this.#feed.start()
    void this.#readSummary()
  }

  close(): void {
    this.#feed.close()
    this.#closing.abort()
    this.#summaryTimer?.()
  }

  /** Ends the pause before the next try of a lost connection. */
  retryNow(): void {
    this.#feed.retryNow()
  }

  get connection(): Connection {
    return this.#connection
  }

  /** Frames that the log had when it was opened; null while that is not known. */
  get expected(): number | null {
    return this.#expected
  }

  /** The run as panels are given it; a new object each time that something has changed. */
  get model(): RunModel {
    this.#model ??= {
      runId: this.#options.runId,
      frames: this.#frames,
      version: this.#version,
      history: this.#history,
      isEnded: this.#connection.kind === 'ended' || this.#frames.at(-1)?.type === 'run_ended',
      isLive:
        this.#connection.kind === 'live' && this.#expected !== null && this.#frames.length >= this.#expected,
      summary: this.#summary,
    }
    return this.#model
  }

  #draw(): void {
    const isReading = this.#isReading()
    if (this.#drawing !== 'none' && (isReading || this.#drawing === 'soon')) return
    // One that was to come later comes soon when there is no more to wait for; it then finds nothing left to do.
    this.#drawing = isReading ? 'later' : 'soon'
    this.#options.beforeNextDrawing(() => {
      if (this.#drawing === 'none' || this.#closing.signal.aborted) return
      this.#drawing = 'none'
      this.#takeIn()
      this.#version += 1
      this.#model = null
      this.#options.onChange()
    }, isReading)
  }

  /** Whether frames are on their way that were there before the page was opened. */
  #isReading(): boolean {
    if (this.#connection.kind !== 'live') return false
    const arrived = this.#arrived.reduce((sum, { length }) => sum + length, this.#frames.length)
    return this.#expected === null ? arrived > 0 : arrived < this.#expected
  }

  #takeIn(): void {
    const decisions = this.marks.decisions.length
    for (const frames of this.#arrived.splice(0)) {
      const areFresh = this.#expected !== null && this.#frames.length >= this.#expected
      const last = frames.at(-1)
      if (last !== undefined) this.time.arrived(last.ts, this.#options.clock.now(), areFresh)
      for (const frame of frames) this.#frames.push(frame)
      this.marks.add(frames)
      this.#history.add(frames)
      this.#visitSteps()
      // A log that this chart cannot fold still says which states were entered.
      if (this.#history.problem !== null) this.#visitFrames(frames)
    }
    if (this.marks.decisions.length !== decisions) this.#askSummary(SUMMARY_PAUSE_MS)
  }

  #visitSteps(): void {
    const { steps } = this.#history
    for (; this.#stepsSeen < steps.length; this.#stepsSeen++) {
      const step = steps[this.#stepsSeen]
      if (step === undefined) return
      for (const { state } of step.entered) this.visits.enter(state, step.seq, step.ts)
      // A run that is taken up again may be somewhere else without having entered anything.
      if (this.visits.latest !== step.state) this.visits.enter(step.state, step.seq, step.ts)
    }
  }

  #visitFrames(frames: readonly Frame[]): void {
    for (const frame of frames) {
      if (frame.type !== 'state_entered' || typeof frame.state !== 'string') continue
      if (frame.seq <= this.visits.lastSeq) continue
      this.visits.enter(frame.state, frame.seq, frame.ts)
    }
  }

  #askSummary(waitMs: number): void {
    const { clock } = this.#options
    if (waitMs > 0 && this.#summaryTimer !== null) return
    this.#summaryTimer?.()
    this.#summaryTimer = clock.setTimer(clock.now() + waitMs, () => {
      this.#summaryTimer = null
      void this.#readSummary()
    })
  }

  async #readSummary(): Promise<void> {
    const { api, runId } = this.#options
    try {
      const summary = await api.run(runId, this.#closing.signal)
      this.#summary = summary
      this.#expected ??= summary.lastSeq + 1
      this.#draw()
    } catch {
      // The feed meets the same trouble, and says so. If it does not, all that has come by now is all there was.
      this.#expected ??= this.#frames.length
      this.#draw()
    }
  }
}
