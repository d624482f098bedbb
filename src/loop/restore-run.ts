import { toolId } from '../../machines/call.rules.ts'
import type { LoopCall, LoopContext, Outcome } from '../../machines/loop.types.ts'
import { loopFold } from '../chart/loop-fold.ts'
import type { LoopSnapshot } from '../chart/loop-snapshot.ts'
import type { FoldedStep, StartedEffect } from '../chart/pure-fold.ts'
import { LoopchartError } from '../errors.ts'
import type { Frame, RunStartedFrame } from '../frames/generated/frame.ts'
import type { JsonObject } from '../protocol/json.ts'
import { digest } from './decisions.ts'
import { LogFold, unopened } from './log-fold.ts'
import { UNTOUCHED } from './run-tool.ts'

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
  /** The same as its readers saw it: a response may have been coming in, of which whoever goes on has nothing. */
  readonly shown: LoopSnapshot
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

/** Sees each step of a log as it is folded again. */
export type OnRestored = (frame: Frame, step: FoldedStep) => void

/**
 * Folds the decisions of a log through the chart, with nothing started. Throws `log_corrupt` when the frames are not
 * those of one run from its start on.
 */
export function restoreRun(frames: Iterable<Frame>, onStep: OnRestored = () => undefined): RestoredRun {
  const fold = new LogFold(loopFold(), digest)
  const pending = new Map<string, KeyedEffect>()
  const calls: CallSummary[] = []
  const untouched = new Set<string>()
  let started: RunStartedFrame | null = null
  let epoch = 0
  let agent: JsonObject = {}
  const follow = (frame: Frame, step: FoldedStep): void => {
    for (const id of step.stopped) pending.delete(id)
    for (const effect of step.started) {
      untouched.delete(effect.id)
      pending.set(effect.id, { key: effectKey(frame.run_id, effect, step.snapshot.context), started: effect })
    }
    onStep(frame, step)
  }
  for (const frame of frames) {
    const before = fold.snapshot?.context.calls ?? []
    if (frame.type === 'warning' && frame.cause === UNTOUCHED) {
      const call = before.find(({ callId }) => callId === frame.figures['call_id'])
      if (call !== undefined) untouched.add(toolId(call.slot))
    }
    const made = fold.add(frame)
    if (made?.kind === 'started') {
      started = made.frame
      agent = made.frame.agent
      follow(frame, made.step)
    } else if (made?.kind === 'resumed') {
      epoch += 1
      agent = made.frame.agent ?? agent
    } else if (made?.kind === 'decided') {
      if ('actorId' in made.event) pending.delete(made.event.actorId)
      follow(frame, made.step)
    }
    summariseCalls([frame], before, fold.snapshot?.context.calls ?? [], calls)
  }
  const { snapshot, last } = fold
  if (started === null || snapshot === null || last === null) {
    throw new LoopchartError('log_corrupt', 'the log is empty')
  }
  return {
    started,
    agent,
    snapshot: unopened(snapshot),
    shown: snapshot,
    pending,
    untouched,
    calls,
    last,
    epoch,
  }
}

/** Names the result of an effect: the same for the same effect whenever the run is folded. */
export function effectKey(runId: string, started: StartedEffect, { turn, attempt }: LoopContext): string {
  // Its end first: short enough to be one text to V8, where the whole at once would be six that refer to each other.
  const end = `/${turn}/${started.id}/${started.effect === 'runTool' ? started.input.attempt : attempt}`
  return `${runId}${end}`
}

/** Adds the calls that frames of one step give an outcome. */
export function summariseCalls(
  frames: readonly Frame[],
  before: readonly LoopCall[],
  after: readonly LoopCall[],
  summaries: CallSummary[],
): void {
  for (let at = 0; at < frames.length; at += 1) {
    const frame = frames[at]
    if (frame?.type !== 'tool_ended' && frame?.type !== 'tool_failed') continue
    const { call_id: callId, outcome } = frame
    summaries.push({ callId, name: nameOf(callId, after) ?? nameOf(callId, before) ?? '', outcome })
  }
}

function nameOf(callId: string, calls: readonly LoopCall[]): string | undefined {
  return calls.find((call) => call.callId === callId)?.name
}
