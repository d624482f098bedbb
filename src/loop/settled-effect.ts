// What an effect came to: the event that moves the chart, and the frame that says so.
import type { LoopContext } from '../../machines/loop.types.ts'
import { inDoubt, type LoopPathEvent } from '../chart/loop-events.ts'
import type { FrameStamp } from '../frames/frame-stamp.ts'
import type { Frame } from '../frames/generated/frame.ts'
import { makeFrame } from '../frames/make-frame.ts'
import { responseSettledFrame, toolOutcomeFrame } from '../frames/turn-frames.ts'
import type { Decision } from '../journal/journal.ts'
import type { JsonObject } from '../protocol/json.ts'
import { respondDecision } from './decisions.ts'
import type { RespondValue } from './respond.ts'
import type { RunToolValue } from './run-tool.ts'

/** A decision that is no command. */
export type SettledEffect = Exclude<Decision, { kind: 'command' | 'letGo' }>

/** The event that it is to the chart. */
export function eventOf(id: string, decision: SettledEffect): LoopPathEvent {
  switch (decision.kind) {
    case 'settled': {
      const event: unknown = { type: doneType(id), output: decision.value, actorId: id }
      if (!isPathEvent(event)) throw new TypeError('an effect settled without a name')
      return event
    }
    case 'inDoubt':
      return inDoubt(id, decision.isUntouched)
    case 'bug':
      return { type: `xstate.error.actor.${id}`, error: decision.error, actorId: id }
  }
}

// Kept, as ids are few: what is made anew each time must be hashed each time that the chart looks for its ways.
const DONE_TYPES = new Map<string, string>()

function doneType(id: string): string {
  const known = DONE_TYPES.get(id)
  if (known !== undefined) return known
  const type = `xstate.done.actor.${id}`
  DONE_TYPES.set(id, type)
  return type
}

function isPathEvent(event: unknown): event is LoopPathEvent {
  return typeof event === 'object' && event !== null && 'type' in event
}

/** The one frame that says what was decided: folding these again gives the run again. */
export function decisionFrame(
  stamp: FrameStamp,
  { turn, attempt }: LoopContext,
  id: string,
  decision: SettledEffect,
): Frame {
  const value = decision.kind === 'settled' ? decision.value : null
  if (isRespondValue(id, value)) {
    const { settled: told } = value
    return responseSettledFrame(stamp, turn, attempt, told, respondDecision(value, told.items))
  }
  if (isRunToolValue(id, value)) return toolOutcomeFrame(stamp, value.ended)
  const settled = { id, value: null, in_doubt: false, untouched: false, error: null }
  if (decision.kind === 'inDoubt') {
    return makeFrame(stamp, 'effect_settled', {
      ...settled,
      in_doubt: true,
      untouched: decision.isUntouched,
    })
  }
  if (decision.kind === 'bug') {
    // The cause is for the log; the chart only knows that there was one.
    const error = { code: 'internal_error', message: causeOf(decision.error).slice(0, 1000) }
    return makeFrame(stamp, 'effect_settled', { ...settled, error })
  }
  return makeFrame(stamp, 'effect_settled', { ...settled, value: isStored(value) ? value : null })
}

function causeOf(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : typeof error
}

function isStored(value: unknown): value is JsonObject | readonly JsonObject[] {
  return typeof value === 'object' && value !== null
}

// A journal gives back what the effect of an id settled with: its shape is that effect's.
function isRespondValue(id: string, value: unknown): value is RespondValue {
  return id === 'respond' && value !== null
}

function isRunToolValue(id: string, value: unknown): value is RunToolValue {
  return id.startsWith('tool.') && value !== null
}
