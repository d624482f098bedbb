import type { LoopInput, LoopSettings } from '../../machines/loop.types.ts'
import type { LoopPathEvent } from '../chart/loop-events.ts'
import type { LoopSnapshot } from '../chart/loop-snapshot.ts'
import type { FoldedStep, LoopFold } from '../chart/pure-fold.ts'
import { LoopchartError } from '../errors.ts'
import type { Frame, RunResumedFrame, RunStartedFrame } from '../frames/generated/frame.ts'
import { isJsonObject, type JsonObject } from '../protocol/json.ts'
import { readDecision, type Digest } from './read-decision.ts'
import { cursorOf, parseInput } from './run-input.ts'

/** One step that a frame stands for. */
export type LogStep = { readonly step: FoldedStep } & (
  | { readonly kind: 'started'; readonly frame: RunStartedFrame; readonly input: LoopInput }
  | { readonly kind: 'resumed'; readonly frame: RunResumedFrame }
  /** Seen, not decided: but where the run went from there depends on it. */
  | { readonly kind: 'opened'; readonly event: LoopPathEvent }
  | { readonly kind: 'decided'; readonly event: LoopPathEvent }
)

/** The event that says that the first bytes of a response are in. */
const OPENED: LoopPathEvent = { type: 'stream.opened' }

/** Folds the frames of one run through the chart, one by one, with nothing started. It needs nothing of Node. */
export class LogFold {
  readonly #fold: LoopFold
  readonly #digest: Digest
  #snapshot: LoopSnapshot | null = null
  #last: Frame | null = null

  constructor(fold: LoopFold, digest: Digest) {
    this.#fold = fold
    this.#digest = digest
  }

  /** Where the frames so far leave the run; null before the first. */
  get snapshot(): LoopSnapshot | null {
    return this.#snapshot
  }

  get last(): Frame | null {
    return this.#last
  }

  /**
   * Takes the next frame: the step that it stands for, or null when it stands for none. Throws `log_corrupt` when it
   * does not follow the frames before.
   */
  add(frame: Frame): LogStep | null {
    checkOrder(frame, this.#last)
    this.#last = frame
    const made = this.#read(frame)
    if (made !== null) this.#snapshot = made.step.snapshot
    return made
  }

  #read(frame: Frame): LogStep | null {
    if (frame.type === 'run_started') {
      const input = loopInputOf(frame)
      return { kind: 'started', frame, input, step: this.#fold.first(input) }
    }
    const snapshot = this.#snapshot
    if (snapshot === null) throw corrupt(frame, 'the log does not begin with run_started')
    if (frame.type === 'run_resumed') return { kind: 'resumed', frame, step: resumption(snapshot) }
    if (frame.type === 'state_entered') {
      return frame.by === OPENED.type
        ? { kind: 'opened', event: OPENED, step: this.#fold.next(snapshot, OPENED) }
        : null
    }
    const event = readDecision(frame, this.#digest)
    return event === null ? null : { kind: 'decided', event, step: this.#fold.next(snapshot, event) }
  }
}

/** Whoever takes a run up has seen nothing of a response that was coming in. */
export function unopened(snapshot: LoopSnapshot): LoopSnapshot {
  return snapshot.state === 'working.responding.streaming'
    ? { ...snapshot, state: 'working.responding.requesting' }
    : snapshot
}

function resumption(before: LoopSnapshot): FoldedStep {
  const snapshot = unopened(before)
  const { state, context } = snapshot
  const entered = snapshot === before ? [] : [{ state, turn: context.turn }]
  return { snapshot, entered, started: [], stopped: [], told: [] }
}

function checkOrder(frame: Frame, last: Frame | null): void {
  const expected = last === null ? 0 : last.seq + 1
  if (frame.seq !== expected) throw corrupt(frame, `frame ${expected} is missing`)
  if (last !== null && frame.run_id !== last.run_id) throw corrupt(frame, 'it is of another run')
  if (last?.type === 'run_ended') throw corrupt(frame, 'the run had ended')
  if (last !== null && frame.type === 'run_started') throw corrupt(frame, 'the run had started')
}

function loopInputOf(started: RunStartedFrame): LoopInput {
  const { input, settings, deadline_at: deadlineAt, limits, conversation } = started
  if (!isSettings(settings)) throw new LoopchartError('log_corrupt', 'run_started has no settings')
  const wallTimeMs = limits['wall_time_ms']
  const items = parseInput(input)
  return {
    items,
    settings,
    deadlineAt,
    wallTimeMs: typeof wallTimeMs === 'number' ? wallTimeMs : null,
    cursor: cursorOf(items, settings.mode, conversation?.previous_response_id ?? null),
  }
}

// Written by run() and by nobody else.
function isSettings(settings: unknown): settings is LoopSettings & JsonObject {
  return isJsonObject(settings) && isJsonObject(settings['limits'])
}

function corrupt({ seq }: Frame, why: string): LoopchartError {
  return new LoopchartError('log_corrupt', `frame ${seq}: ${why}`)
}
