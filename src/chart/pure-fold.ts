import { createActor, type AnyActorScope, type InspectionEvent } from 'xstate'

import type { loopMachine } from '../../machines/loop.machine.ts'
import type {
  LoopContext,
  LoopEmitted,
  LoopInput,
  RespondInput,
  RunToolInput,
} from '../../machines/loop.types.ts'
import type { LoopPathEvent } from './loop-events.ts'
import { statePath, type LoopSnapshot } from './state-path.ts'

/** An effect that the chart wants started. */
export type StartedEffect = { readonly id: string } & (
  | { readonly effect: 'respond'; readonly input: RespondInput }
  | { readonly effect: 'runTool'; readonly input: RunToolInput }
  | { readonly effect: 'timer'; readonly input: { readonly at: number | null } }
  | { readonly effect: 'compact'; readonly input: { readonly items: LoopContext['items'] } }
  | { readonly effect: 'drain'; readonly input: { readonly slots: readonly number[] } }
)

/** What one event comes to. */
export interface FoldedStep {
  readonly snapshot: LoopSnapshot
  /** The states passed through, the one it ends in included; none when the event led nowhere else. */
  readonly entered: readonly { readonly state: string; readonly turn: number }[]
  readonly started: readonly StartedEffect[]
  /** Ids of children that are to stop, also of those that ended by themselves. */
  readonly stopped: readonly string[]
  readonly told: readonly LoopEmitted[]
}

/** The chart as a pure function of its events. */
export interface LoopFold {
  first(input: LoopInput): FoldedStep
  next(before: LoopSnapshot, event: LoopPathEvent): FoldedStep
}

/** The chart as it takes the events of its own actors too, which are not among those that xstate knows by type. */
export interface FoldedMachine {
  getInitialSnapshot(scope: AnyActorScope, input: LoopInput): LoopSnapshot
  transition(before: LoopSnapshot, event: LoopPathEvent, scope: AnyActorScope): LoopSnapshot
  microstep(before: LoopSnapshot, event: LoopPathEvent, scope: AnyActorScope): readonly LoopSnapshot[]
}

/**
 * Folds events through a chart without running anything: what `initialTransition` and `transition` of xstate do, with
 * one kept scope instead of a new actor for each call, and with an ear for each microstep.
 */
export function createFold(
  machine: typeof loopMachine,
  options: { readonly input: LoopInput; readonly inspect?: (event: InspectionEvent) => void },
): LoopFold {
  const folded: FoldedMachine = machine
  const self = createActor(machine, options)
  const kept = { self, id: '', sessionId: '', system: self.system, logger: nothing, defer: nothing }
  const step = (
    before: LoopSnapshot | null,
    work: (scope: AnyActorScope) => readonly LoopSnapshot[],
  ): FoldedStep => {
    const started: StartedEffect[] = []
    const stopped: string[] = []
    const told: LoopEmitted[] = []
    const actionExecutor: AnyActorScope['actionExecutor'] = ({ type, params }) => {
      if (type === 'xstate.spawnChild') started.push(startedEffect(params))
      else if (type === 'xstate.stopChild' && isChild(params)) stopped.push(params.id)
      else if (type === 'xstate.emit' && isEmitted(params)) told.push(params.event)
    }
    const passed = work({ ...kept, emit: nothing, stopChild: nothing, actionExecutor })
    const snapshot = passed.at(-1) ?? before
    if (snapshot === null) throw new Error('the chart has no initial state')
    return { snapshot, entered: enteredStates(before, passed), started, stopped, told }
  }
  return {
    first: (input) => step(null, (scope) => [folded.getInitialSnapshot(scope, input)]),
    next: (before, event) => step(before, (scope) => folded.microstep(before, event, scope)),
  }
}

function enteredStates(before: LoopSnapshot | null, passed: readonly LoopSnapshot[]): FoldedStep['entered'] {
  const entered: { state: string; turn: number }[] = []
  let path = before === null ? '' : statePath(before)
  for (const snapshot of passed) {
    const next = statePath(snapshot)
    if (next !== path) entered.push({ state: next, turn: snapshot.context.turn })
    path = next
  }
  return entered
}

function nothing(): void {
  // What the chart would do is only written down.
}

function startedEffect(params: unknown): StartedEffect {
  const { actorRef, src, input } = Object(params)
  const started: unknown = { id: isChild(actorRef) ? actorRef.id : null, effect: src, input }
  if (!isStarted(started)) throw new TypeError('a child was spawned that is none of the effects')
  return started
}

// What an effect is called and what it is given are checked against each other where the chart is written.
function isStarted(value: unknown): value is StartedEffect {
  if (typeof value !== 'object' || value === null || !('id' in value) || !('effect' in value)) return false
  return typeof value.id === 'string' && typeof value.effect === 'string' && EFFECTS.has(value.effect)
}

const EFFECTS: ReadonlySet<string> = new Set(['respond', 'runTool', 'timer', 'compact', 'drain'])

function isChild(params: unknown): params is { readonly id: string } {
  return typeof params === 'object' && params !== null && 'id' in params && typeof params.id === 'string'
}

function isEmitted(params: unknown): params is { readonly event: LoopEmitted } {
  return typeof params === 'object' && params !== null && 'event' in params
}
