import type { ChartTransition } from '../chart/list-transitions.ts'
import { CALLS_MAX, ITEMS_MAX, type PathPlan } from './agent-scenarios.ts'
import { TURNS_MAX } from './agent-walks.ts'

/** A part of the chart that an agent's settings rule out. */
export interface ClosedWay {
  readonly name: string
  /** The setting. */
  readonly because: string
}

/** Says which setting of an agent closes a state or a transition; null: none does. */
export interface ClosedWays {
  state(path: string): string | null
  transition(transition: ChartTransition): string | null
}

/** Reads an agent's settings as what of the chart they leave no way to. */
export function closedWays(plan: PathPlan): ClosedWays {
  const guards = closedGuards(plan)
  const states = closedStates(plan)
  const events = closedEvents(plan)
  const state = (path: string): string | null => states.get(path) ?? null
  return {
    state,
    transition: ({ source, event, guard, targets }) => {
      const bySource = state(source) ?? targets.map(state).find((because) => because !== null) ?? null
      const byPlace = guards.get(`${source} ${guard}`) ?? guards.get(guard ?? '') ?? null
      return bySource ?? byPlace ?? events.get(`${source} ${event}`) ?? null
    },
  }
}

function closedStates({ agent, samples }: PathPlan): ReadonlyMap<string, string> {
  const { retriesMax } = agent.settings
  const states = new Map<string, string>()
  if (retriesMax === 0) states.set('working.backingOff', 'retry.times is 0')
  const { compactAtTokens, compactAtItems } = agent.settings
  if (agent.compaction === null) states.set('working.compacting', 'there is no compaction')
  else if (compactAtTokens === null && compactAtItems !== null && compactAtItems > ITEMS_MAX)
    states.set('working.compacting', 'compaction.atItems is too far away')
  if (!samples.some(({ facts }) => facts.approval !== null)) {
    states.set('working.executing.awaitingApproval', 'no sample call needs approval')
  }
  if (!samples.some(({ facts }) => isUnsafe(facts))) {
    states.set('working.executing.reconciling', 'every sample call may safely run again')
  }
  const never = whyNoCallRuns(agent.settings.limits)
  if (never !== null) for (const path of EXECUTING) states.set(path, never)
  if (isLastTurn(agent)) states.set('working.followingUp', 'limits.turns is 1')
  return states
}

const EXECUTING = [
  'working.executing',
  'working.executing.choosing',
  'working.executing.awaitingApproval',
  'working.executing.running',
  'working.executing.reconciling',
]

// Limits are checked before anything starts: no call is begun that no turn would read.
function whyNoCallRuns({ turns, toolCalls }: PathPlan['agent']['settings']['limits']): string | null {
  if (turns === 1) return 'limits.turns is 1'
  return toolCalls === 0 ? 'limits.toolCalls is 0' : null
}

/** Whether nothing can follow the first turn, not even a last word. */
function isLastTurn({ settings }: PathPlan['agent']): boolean {
  return settings.limits.turns === 1 && settings.onLimit === 'stop'
}

function isUnsafe({ readOnly, idempotent, refusal }: PathPlan['samples'][number]['facts']): boolean {
  return !readOnly && !idempotent && refusal === null
}

function closedEvents({ agent, samples }: PathPlan): ReadonlyMap<string, string> {
  const events = new Map<string, string>()
  if (agent.wallTimeMs === null) {
    events.set('working xstate.done.actor.deadline', 'limits.ms is not set')
  }
  if (!samples.some(({ facts }) => facts.approval !== null)) {
    for (const event of ['call.approve', 'call.deny'])
      events.set(`working.executing ${event}`, 'no sample call needs approval')
  }
  if (!samples.some(({ facts }) => isUnsafe(facts))) {
    events.set('working.executing call.reconcile', 'every sample call may safely run again')
  }
  return events
}

function closedGuards({ agent, samples }: PathPlan): ReadonlyMap<string, string> {
  const { onLimit, onIncomplete, mode, maySwitchMode, retriesMax, repairsMax, limits } = agent.settings
  const guards = new Map<string, string>()
  const close = (because: string, ...names: readonly string[]): void => {
    for (const name of names) guards.set(name, because)
  }
  const stuck = whyNeverStuck(limits)
  if (stuck !== null) close(stuck, 'isUsedUp', 'isUsedUpToWrapUp')
  if (limits.tokens === null) close('limits.tokens is not set', 'isSpent', 'isSpentToWrapUp')
  if (onLimit === 'stop')
    close('onLimit is stop', 'isWrapUp', 'isOverLimitToWrapUp', 'isUsedUpToWrapUp', 'isSpentToWrapUp')
  else close('onLimit is wrap_up', 'isOverLimit', 'isUsedUp', 'isSpent')
  if (onIncomplete === 'stop') close('onIncomplete is stop', 'isToContinue')
  else close('onIncomplete is continue', 'isCutShort')
  if (!maySwitchMode) close('continuity is not auto', 'canSwitchMode')
  if (maySwitchMode) close('continuity is auto', 'canStartNewChain')
  if (mode === 'stateless') close('continuity is stateless', 'canStartNewChain')
  if (retriesMax === 0) close('retry.times is 0', 'canRetry')
  if (agent.models.length === 1) close('there is one model', 'canFallBack')
  if (agent.checkOutput === null) close('there is no output format', 'canRepair', 'hasWrongFormat')
  if (agent.wallTimeMs === null) close('limits.ms is not set', 'endsLimitExceeded')
  if (!samples.some(({ facts }) => isUnsafe(facts))) {
    close('every sample call may safely run again', 'working.executing.running isRunning')
  }
  // Each of them leads to another turn, or comes after one.
  if (limits.turns === 1) close('limits.turns is 1', 'hasSteer', 'isToContinue', 'canRepair')
  if (limits.turns === 1 && repairsMax > 0) close('limits.turns is 1', 'hasWrongFormat')
  if (isLastTurn(agent)) close('limits.turns is 1', 'canSwitchMode', 'canStartNewChain')
  const isFar =
    limits.turns > TURNS_MAX &&
    limits.tokens === null &&
    Math.min(CALLS_MAX, limits.callsPerResponse) <= limits.toolCalls
  if (isFar) close('every limit is too far away to walk to', 'isOverLimit', 'isOverLimitToWrapUp')
  return guards
}

function whyNeverStuck({
  turns,
  toolCalls,
  noProgress,
}: PathPlan['agent']['settings']['limits']): string | null {
  if (turns === 1) return 'limits.turns is 1'
  if (toolCalls < noProgress) return 'limits.toolCalls is below limits.noProgress'
  return noProgress > TURNS_MAX ? 'limits.noProgress is too far away' : null
}
