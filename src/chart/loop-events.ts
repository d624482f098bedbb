import type {
  CompactOutput,
  DrainOutput,
  LoopEvent,
  RespondOutput,
  RunToolOutput,
} from '../../machines/loop.types.ts'

interface Settled<Id extends string, Output> {
  readonly type: `xstate.done.actor.${Id}`
  readonly output: Output
  readonly actorId: string
}

/** Any event that moves the chart: what people say, and what its own actors come to. */
export type LoopPathEvent =
  | LoopEvent
  | Settled<'respond', RespondOutput>
  | Settled<'deadline' | 'backoff', null>
  | Settled<'compact', CompactOutput>
  | Settled<'drain', DrainOutput>

/** `respond` settles. */
export function respondDone(output: RespondOutput): LoopPathEvent {
  return { type: 'xstate.done.actor.respond', output, actorId: 'respond' }
}

/** The call of a slot settles. */
export function toolDone(slot: number, output: RunToolOutput): LoopPathEvent {
  return { type: `xstate.done.actor.tool.${slot}`, output, actorId: `tool.${slot}` }
}

/** A timer has run out. */
export function timerDone(id: 'deadline' | 'backoff'): LoopPathEvent {
  return { type: `xstate.done.actor.${id}`, output: null, actorId: id }
}

/** `compact` settles. */
export function compactDone(output: CompactOutput): LoopPathEvent {
  return { type: 'xstate.done.actor.compact', output, actorId: 'compact' }
}

/** `drain` settles. */
export function drainDone(output: DrainOutput): LoopPathEvent {
  return { type: 'xstate.done.actor.drain', output, actorId: 'drain' }
}

/** An effect is rejected, which only a bug does. */
export function rejected(id: string): LoopPathEvent {
  return { type: `xstate.error.actor.${id}`, error: { message: `${id} was rejected` }, actorId: id }
}

/** The process died while an effect was at work, or before it had done anything. */
export function inDoubt(id: string, isUntouched = false): LoopPathEvent {
  return isUntouched ? { type: 'effect.inDoubt', id, isUntouched } : { type: 'effect.inDoubt', id }
}
