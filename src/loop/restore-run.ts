import type { LoopCall, LoopContext, LoopInput, LoopSettings, Outcome } from '../../machines/loop.types.ts'
import { toolId } from '../../machines/call.rules.ts'
import type { LoopPathEvent } from '../chart/loop-events.ts'
import { loopFold } from '../chart/loop-fold.ts'
import type { LoopSnapshot } from '../chart/loop-snapshot.ts'
import type { FoldedStep, StartedEffect } from '../chart/pure-fold.ts'
import { LoopchartError } from '../errors.ts'
import type { Frame, RunStartedFrame } from '../frames/generated/frame.ts'
import { isJsonObject, type JsonObject } from '../protocol/json.ts'
import { decisionOf } from './decisions.ts'
import { UNTOUCHED } from './run-tool.ts'
import { cursorOf, parseInput } from './run-input.ts'

/** One call of a run and how it ended. */
export interface CallSummary {
  readonly callId: string
  readonly name: string
  readonly outcome: Outcome
}

/** An effect that the chart wants, under the key that its result will come with. */
export interface KeyedEffect {
  readonly key: string
  readonly started: StartedEffect
}

/** Where a log leaves a run. */
export interface RestoredRun {
  readonly started: RunStartedFrame
  /** The description of the agent that drove it last. */
  readonly agent: JsonObject
  readonly snapshot: LoopSnapshot
  /** What was at work when the log ends, by id, in the order in which it was started. */
  readonly pending: ReadonlyMap<string, KeyedEffect>
  /** Those of them that are known not to have done anything, by id. */
  readonly untouched: ReadonlySet<string>
  /** Every call that has its outcome. */
  readonly calls: readonly CallSummary[]
  readonly last: Frame
  /** How often it was resumed before. */
  readonly epoch: number
}

const OPENED: LoopPathEvent = { type: 'stream.opened' }

/** Sees each step of a log as it is folded again. */
export type OnRestored = (frame: Frame, step: FoldedStep) => void

/**
 * Folds the decisions of a log through the chart, with nothing started. Throws `log_corrupt` when the frames are not
 * those of one run from its start on.
 */
export function restoreRun(frames: Iterable<Frame>, onStep: OnRestored = () => undefined): RestoredRun {
  const fold = loopFold()
  const pending = new Map<string, KeyedEffect>()
  const calls: CallSummary[] = []
  const untouched = new Set<string>()
  let started: RunStartedFrame | null = null
  let snapshot: LoopSnapshot | null = null
  let last: Frame | null = null
  let epoch = 0
  let agent: JsonObject = {}
  const follow = (frame: Frame, step: FoldedStep): LoopSnapshot => {
    for (const id of step.stopped) pending.delete(id)
    for (const effect of step.started) {
      untouched.delete(effect.id)
      pending.set(effect.id, { key: effectKey(frame.run_id, effect, step.snapshot.context), started: effect })
    }
    onStep(frame, step)
    return step.snapshot
  }
  for (const frame of frames) {
    checkOrder(frame, last)
    last = frame
    if (frame.type === 'run_started') {
      started = frame
      agent = frame.agent
      snapshot = follow(frame, fold.first(loopInputOf(frame)))
      continue
    }
    if (snapshot === null) throw corrupt(frame, 'the log does not begin with run_started')
    if (frame.type === 'run_resumed') {
      epoch += 1
      agent = frame.agent ?? agent
      snapshot = unopened(snapshot)
    }
    // Seen, not decided: but where the run went from there depends on it.
    if (frame.type === 'state_entered' && frame.by === OPENED.type)
      snapshot = fold.next(snapshot, OPENED).snapshot
    if (frame.type === 'warning' && frame.cause === UNTOUCHED) {
      const call = snapshot.context.calls.find(({ callId }) => callId === frame.figures['call_id'])
      if (call !== undefined) untouched.add(toolId(call.slot))
    }
    const { calls: before } = snapshot.context
    const event = decisionOf(frame)
    if (event !== null) {
      if ('actorId' in event) pending.delete(event.actorId)
      snapshot = follow(frame, fold.next(snapshot, event))
    }
    calls.push(...summariseCalls([frame], before, snapshot.context.calls))
  }
  if (started === null || snapshot === null || last === null) {
    throw new LoopchartError('log_corrupt', 'the log is empty')
  }
  return { started, agent, snapshot: unopened(snapshot), pending, untouched, calls, last, epoch }
}

/** Whoever takes a run up has seen nothing of a response that was coming in. */
function unopened(snapshot: LoopSnapshot): LoopSnapshot {
  return snapshot.state === 'working.responding.streaming'
    ? { ...snapshot, state: 'working.responding.requesting' }
    : snapshot
}

/** Names the result of an effect: the same for the same effect whenever the run is folded. */
export function effectKey(runId: string, started: StartedEffect, { turn, attempt }: LoopContext): string {
  return `${runId}/${turn}/${started.id}/${started.effect === 'runTool' ? started.input.attempt : attempt}`
}

/** The calls that frames of one step give an outcome. */
export function summariseCalls(
  frames: readonly Frame[],
  before: readonly LoopCall[],
  after: readonly LoopCall[],
): readonly CallSummary[] {
  const summaries: CallSummary[] = []
  for (const frame of frames) {
    if (frame.type !== 'tool_ended' && frame.type !== 'tool_failed') continue
    const { call_id: callId, outcome } = frame
    const call = [...after, ...before].find((known) => known.callId === callId)
    summaries.push({ callId, name: call?.name ?? '', outcome })
  }
  return summaries
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
