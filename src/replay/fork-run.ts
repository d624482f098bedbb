import { randomUUID } from 'node:crypto'

import { can } from '../chart/can.ts'
import { inDoubt } from '../chart/loop-events.ts'
import { loopFold } from '../chart/loop-fold.ts'
import type { FoldedStep } from '../chart/pure-fold.ts'
import { LoopchartError } from '../errors.ts'
import { FrameStamp } from '../frames/frame-stamp.ts'
import type { Frame } from '../frames/generated/frame.ts'
import { makeFrame } from '../frames/make-frame.ts'
import { toolOutcomeFrame } from '../frames/turn-frames.ts'
import { fingerprintOf, type AgentDescription } from '../loop/agent.ts'
import { decisionOf, isDecision, plain } from '../loop/decisions.ts'
import { restoreRun, type RestoredRun } from '../loop/restore-run.ts'
import { isJsonObject } from '../protocol/json.ts'
import { expectedStep } from './expected-step.ts'
import { isObservation } from './is-observation.ts'
import { readDescription, recordedAgent, type AnswerTextFor } from './recorded-agent.ts'

type LoopCommand = Parameters<typeof can>[1]

/** What is different in the new run. */
export type ForkChange =
  /** A call that ran gave this to the model instead. */
  | { readonly kind: 'output'; readonly output: string; readonly outcome?: 'ok' | 'error' }
  /** Somebody who decided about a call decided otherwise. */
  | { readonly kind: 'approve' }
  | { readonly kind: 'deny'; readonly reason: string }
  /** A compaction did not take place: the run goes on with the whole conversation. */
  | { readonly kind: 'keep_history' }
  /** The response is asked of another model; the run is to be resumed with an agent of that model. */
  | { readonly kind: 'model'; readonly model: string }

export interface ForkOptions {
  /** The decision that is changed: the number of its frame. */
  readonly at: number
  /** Without it the new run ends before that decision, and it is made anew. */
  readonly change?: ForkChange
  /** Names the new run; a random one when left out. */
  readonly runId?: string
}

/** The beginning of a new run, for a store to import and `run({ resume })` to go on with. */
export interface ForkedRun {
  readonly runId: string
  readonly frames: readonly Frame[]
  /**
   * To be sent when the resumed run comes to `reconciling`: calls that the change sets off have not run, and whoever
   * resumes a run cannot know that.
   */
  readonly commands: readonly LoopCommand[]
}

/** Begins a new run as an old one up to a decision. Throws `usage` when that decision cannot be changed so. */
export function forkFrames(
  log: Iterable<Frame>,
  { at, change, runId = randomUUID() }: ForkOptions,
  answerTextFor: AnswerTextFor,
): ForkedRun {
  const frames = [...log]
  const target = frames[at]
  if (target === undefined || !isDecision(target)) {
    const what = target?.type === 'run_started' ? 'the start of the run' : 'no decision'
    throw new LoopchartError(
      'usage',
      `frame ${at} is ${what}: a run is forked at a decision behind its start; loopchart explain RUN lists those`,
    )
  }
  const kept = frames.slice(0, 1 + frames.slice(0, at).findLastIndex((frame) => !isObservation(frame)))
  const begun = kept.map((frame) => renamed(frame, runId, { run_id: target.run_id, seq: at }))
  if (change === undefined) return { runId, frames: begun, commands: [] }
  const restored = restoreRun(begun)
  if (change.kind === 'model') {
    return { runId, frames: [...begun, anotherModel(begun, restored, target, change.model)], commands: [] }
  }
  const stamp = new FrameStamp(runId, () => 0, restored.last)
  const decision = changed(target, change, restored, stamp)
  const event = decisionOf(decision)
  if (event === null) throw new LoopchartError('usage', `frame ${at} would decide nothing`)
  const step = loopFold().next(restored.snapshot, event)
  const agent = recordedAgent(agentIn(begun) ?? NOTHING_KNOWN, {
    answerTextFor,
    profile: null,
    streamLimits: {},
    endpoints: new Map(),
    settings: restored.snapshot.context.settings,
  })
  const maker = {
    stamp,
    agent,
    depth: 'all',
    warned: new Set<string>(),
    onAnnounced: () => undefined,
  } as const
  const followed = expectedStep(maker, event.type, step)
    // What the step is about to start was not started.
    .filter(({ isLosable }) => !isLosable)
    .map(({ frame }, index) => ({ ...frame, seq: decision.seq + 1 + index }))
  return { runId, frames: [...begun, decision, ...followed], commands: reruns(step) }
}

const NOTHING_KNOWN: AgentDescription = { fingerprint: '', plans: [], encodings: {} }

function renamed(
  frame: Frame,
  runId: string,
  from: { readonly run_id: string; readonly seq: number },
): Frame {
  // A field of our own, as the format allows: where the run comes from.
  const origin = frame.type === 'run_started' ? { forked_from: from } : {}
  return { ...frame, run_id: runId, ...origin }
}

function changed(
  target: Frame,
  change: Exclude<ForkChange, { kind: 'model' }>,
  restored: RestoredRun,
  stamp: FrameStamp,
): Frame {
  if (change.kind === 'output') return otherOutput(target, change, stamp)
  if (change.kind === 'keep_history') return withoutCompaction(target, stamp)
  const { type, callId } = target.type === 'command_received' ? target.command : NO_COMMAND
  if ((type !== 'call.approve' && type !== 'call.deny') || typeof callId !== 'string') {
    throw new LoopchartError('usage', `frame ${target.seq} is ${target.type}, not a yes or a no to a call`)
  }
  const command: LoopCommand =
    change.kind === 'approve'
      ? { type: 'call.approve', callId }
      : { type: 'call.deny', callId, reason: change.reason }
  const answer = can(restored.snapshot, command)
  if (answer.answer === 'refused') throw new LoopchartError('usage', answer.reason ?? 'it would be refused')
  return makeFrame(stamp, 'command_received', { command: { ...command }, answer: { ...answer } })
}

const NO_COMMAND = { type: null, callId: null }

function otherOutput(
  target: Frame,
  { output, outcome = 'ok' }: Extract<ForkChange, { kind: 'output' }>,
  stamp: FrameStamp,
): Frame {
  if ((target.type !== 'tool_ended' && target.type !== 'tool_failed') || target.slot === null) {
    throw new LoopchartError('usage', `frame ${target.seq} is ${target.type}, not the end of a call that ran`)
  }
  return toolOutcomeFrame(stamp, {
    call_id: target.call_id,
    slot: target.slot,
    outcome,
    exit_code: outcome === 'ok' ? 0 : 1,
    artifacts: [],
    output,
    duration_ms: 0,
    error: outcome === 'ok' ? null : { code: 'tool_failed', message: 'somebody said so in a fork' },
    usage: null,
  })
}

function withoutCompaction(target: Frame, stamp: FrameStamp): Frame {
  const isCompaction = target.type === 'effect_settled' && target.id === 'compact' && !target.in_doubt
  if (!isCompaction || !isJsonObject(target.value) || target.value['ok'] !== true) {
    throw new LoopchartError('usage', `frame ${target.seq} is ${target.type}, not the end of a compaction`)
  }
  return makeFrame(stamp, 'effect_settled', {
    id: target.id,
    value: { ok: false, message: 'somebody kept the history in a fork', usage: null },
    in_doubt: false,
    untouched: false,
    error: null,
  })
}

/** Says from where on another model is asked: a replay makes its requests as that model's. */
function anotherModel(frames: readonly Frame[], restored: RestoredRun, target: Frame, model: string): Frame {
  const asked = restored.pending.get('respond')?.started
  const description = agentIn(frames)
  if (target.type !== 'response_settled' || asked?.effect !== 'respond') {
    throw new LoopchartError('usage', `frame ${target.seq} is ${target.type}, not a response`)
  }
  if (description === null) throw new LoopchartError('usage', 'the log does not say what its agent is')
  const { turn, attempt } = asked.input
  const plans = description.plans.map((plan, at) => (at === asked.input.model ? { ...plan, model } : plan))
  const agent = { ...description, plans, fingerprint: fingerprintOf({ ...description, plans }) }
  const stamp = new FrameStamp(restored.started.run_id, () => 0, restored.last)
  return makeFrame(stamp, 'run_resumed', {
    epoch: restored.epoch + 1,
    superseded: { turn, attempt },
    agent: plain(agent),
  })
}

/** The agent in force at the end of a log. */
function agentIn(frames: readonly Frame[]): AgentDescription | null {
  const last = frames.findLast((frame) => isJsonObject(Object(frame)['agent']))
  return readDescription(last === undefined ? null : Object(last)['agent'])
}

/** Calls that the step starts and that are not simply run when the run is resumed. */
function reruns({ snapshot, started }: FoldedStep): readonly LoopCommand[] {
  return started.flatMap((effect) => {
    if (effect.effect !== 'runTool') return []
    const isRepeated = loopFold()
      .next(snapshot, inDoubt(effect.id))
      .started.some(({ id }) => id === effect.id)
    return isRepeated ? [] : [{ type: 'call.reconcile', callId: effect.input.call.callId, as: 'rerun' }]
  })
}
