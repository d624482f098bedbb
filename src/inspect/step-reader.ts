import type { LoopSnapshot } from '../chart/loop-snapshot.ts'
import { LoopchartError } from '../errors.ts'
import type { Frame } from '../frames/generated/frame.ts'
import { LogFold, type LogStep } from '../loop/log-fold.ts'
import { isJsonObject, type Json, type JsonObject } from '../protocol/json.ts'
import { sha256 } from './sha256.ts'
import { ENTRY_IDS, transitionRecorder } from './transition-recorder.ts'

/** One step of a run: what moved it, by which transitions, and where that left it. */
export interface HistoryStep {
  /** The frame that the step begins with. */
  readonly seq: number
  /** When that was, in milliseconds since 1970. */
  readonly ts: number
  /** The type of the event, as `state_entered` frames name it; `run_started` and `run_resumed` for those two. */
  readonly by: string
  /** The event that the chart was given. */
  readonly event: ChartEvent
  /** Where the chart is after the step, as a dotted path. */
  readonly state: string
  /** The states passed through, the last included; none when the step led nowhere else. */
  readonly entered: readonly { readonly state: string; readonly turn: number }[]
  /** The transitions taken, in order, by their ids in `chartLayout`. */
  readonly transitions: readonly string[]
  readonly snapshot: LoopSnapshot
}

/** An event as the chart takes it, as plain JSON. */
export interface ChartEvent {
  readonly type: string
  readonly [key: string]: Json | undefined
}

/** Reads the steps of one run from its frames, as they come. It needs nothing of Node. */
export class StepReader {
  readonly #recorder = transitionRecorder()
  readonly #fold = new LogFold(this.#recorder.fold, sha256)
  // States of the latest step that the log has not named yet.
  #expected: readonly string[] = []

  /**
   * Takes the next frame, from the first on: the step that it stands for, or null when it stands for none. Throws
   * `log_corrupt` for a frame that does not follow those before, and for a log that this chart did not write.
   */
  add(frame: Frame): HistoryStep | null {
    if (frame.type === 'conversation_started') {
      const what = 'this is the log of a conversation: its turns are runs with logs of their own'
      throw new LoopchartError('log_corrupt', what)
    }
    try {
      const made = this.#fold.add(frame)
      const step = made === null ? null : this.#read(frame, made)
      if (frame.type === 'state_entered') this.#compare(frame.seq, frame.state)
      return step
    } catch (error) {
      // A log comes from a file: it may hold whatever this chart has no way for.
      throw error instanceof LoopchartError ? error : corrupt(frame.seq, 'it cannot be folded', error)
    } finally {
      this.#recorder.taken()
    }
  }

  #read({ seq, ts }: Frame, made: LogStep): HistoryStep {
    const { snapshot, entered } = made.step
    const [left] = this.#expected
    if (left !== undefined) throw corrupt(seq, `the log does not say that ${left} was entered`)
    this.#expected = made.kind === 'resumed' ? [] : entered.map(({ state }) => state)
    const taken = this.#recorder.taken()
    const transitions = made.kind === 'started' ? [...ENTRY_IDS, ...taken] : taken
    return { seq, ts, ...eventOf(made), state: snapshot.state, entered, transitions, snapshot }
  }

  /** A log says which states were entered: where this chart says otherwise, another one has written it. */
  #compare(seq: number, state: string): void {
    const [expected, ...rest] = this.#expected
    this.#expected = rest
    if (state === expected) return
    const other = expected ?? 'that nothing was'
    throw corrupt(seq, `the log says that ${state} was entered, this chart says ${other}`)
  }
}

function corrupt(seq: number, why: string, cause?: unknown): LoopchartError {
  return new LoopchartError('log_corrupt', `frame ${seq}: ${why}`, { cause })
}

function eventOf(made: LogStep): Pick<HistoryStep, 'by' | 'event'> {
  switch (made.kind) {
    case 'started':
      return { by: 'run_started', event: { type: 'xstate.init', input: plain(made.input) } }
    case 'resumed':
      return { by: 'run_resumed', event: { type: 'run_resumed', epoch: made.frame.epoch } }
    case 'opened':
    case 'decided':
      return { by: made.event.type, event: chartEvent(made.event) }
  }
}

/** An event of the chart, as JSON. */
export function chartEvent(event: { readonly type: string }): ChartEvent {
  return { ...plain(event), type: event.type }
}

// Events and inputs are made from JSON: the compiler cannot see that of an interface.
function plain(value: object): JsonObject {
  return isJsonObject(value) ? value : {}
}
