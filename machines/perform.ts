import { enqueueActions, type ActionFunction, type PromiseActorLogic } from 'xstate'

import type { LoopContext, LoopEmitted, LoopEvent, RunToolInput, RunToolOutput } from './loop.types.ts'

/** What an action comes to, as data; it happens in this order. */
export interface LoopUpdate {
  /** Calls that are to stop, by actor id. */
  readonly stop?: readonly string[]
  readonly change?: Partial<LoopContext>
  readonly tell?: readonly LoopEmitted[]
  /** Calls that are to start, each under its actor id. */
  readonly start?: readonly { readonly id: string; readonly input: RunToolInput }[]
}

interface RunToolActor {
  readonly src: 'runTool'
  readonly logic: PromiseActorLogic<RunToolOutput, RunToolInput>
  readonly id: string | undefined
}

// A method, so that an action with parameters of its own fits.
export interface PureAction {
  update(context: LoopContext, params: unknown): LoopUpdate
}

const PURE_ACTIONS = new WeakMap<object, PureAction>()

/** An action of the chart from a pure function, which `pureAction` gives back to whoever folds without XState. */
export function perform<P extends object | undefined = undefined>(
  update: (context: LoopContext, params: P) => LoopUpdate,
): ActionFunction<LoopContext, LoopEvent, LoopEvent, P, RunToolActor, never, never, never, LoopEmitted> {
  const action = enqueueActions<
    LoopContext,
    LoopEvent,
    P,
    LoopEvent,
    RunToolActor,
    never,
    never,
    never,
    LoopEmitted
  >(({ context, enqueue }, params) => {
    const { stop = [], change, tell = [], start = [] } = update(context, params)
    for (const id of stop) enqueue.stopChild(id)
    if (change !== undefined) enqueue.assign(change)
    for (const told of tell) enqueue.emit(told)
    for (const { id, input } of start) enqueue.spawnChild('runTool', { id, input })
  })
  PURE_ACTIONS.set(action, { update })
  return action
}

/** What an action made by `perform` was made from. */
export function pureAction(action: object): PureAction {
  const pure = PURE_ACTIONS.get(action)
  if (pure === undefined) throw new TypeError('an action of the chart was not made by perform()')
  return pure
}
