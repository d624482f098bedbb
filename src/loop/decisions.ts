// What moves a run, as frames: each decision has exactly one, the first of its step, and folding those of a log gives the
// run again.
import { hash } from 'node:crypto'

import type {
  CompactOutput,
  DrainOutput,
  LoopCommand,
  RespondOutput,
  RunToolOutput,
} from '../../machines/loop.types.ts'
import {
  compactDone,
  drainDone,
  inDoubt,
  respondDone,
  timerDone,
  toolDone,
  type LoopPathEvent,
} from '../chart/loop-events.ts'
import { LoopchartError } from '../errors.ts'
import type { EffectSettledFrame, Frame, ResponseSettledFrame } from '../frames/generated/frame.ts'
import { isJsonObject, type JsonObject } from '../protocol/json.ts'
import { isUsage } from './usage.ts'

/** The decision of a settled response: what the chart was told, without items that the frame has anyway. */
export function respondDecision(output: RespondOutput, items: ResponseSettledFrame['items']): JsonObject {
  if (!output.ok) return { ok: false, error: { ...output.error }, usage: plain(output.usage) }
  const { items: own, ...response } = output.response
  const isSame = own.length === items.length && own.every((item, at) => item === items[at])
  return { ok: true, response: plain(response), items: isSame ? null : own }
}

/** The event that a frame stands for; null when the frame decides nothing. */
export function decisionOf(frame: Frame): LoopPathEvent | null {
  switch (frame.type) {
    case 'response_settled':
      return respondDone(respondOutput(frame))
    case 'tool_ended':
    case 'tool_failed': {
      const { slot, outcome, output, usage } = frame
      if (slot === null) return null
      return toolDone(slot, {
        outcome,
        output,
        detail: null,
        outputHash: hashOf(output),
        usage: isUsage(usage) ? usage : null,
      })
    }
    case 'command_received':
      return frame.answer['answer'] === 'refused' ? null : commandOf(frame.command)
    case 'effect_settled':
      return effectEvent(frame)
    default:
      return null
  }
}

/** Whether a frame is the first of a step that something other than the start decided. */
export function isDecision(frame: Frame): boolean {
  return decisionOf(frame) !== null
}

// A short output is its own hash.
const HASHED_FROM = 256

/** What tells outputs apart; never long. */
export function hashOf(output: RunToolOutput['output']): string {
  const text = JSON.stringify(output)
  return text.length < HASHED_FROM ? text : hash('sha256', text, 'base64url')
}

function respondOutput({ seq, decision, items }: ResponseSettledFrame): RespondOutput {
  const { ok, response, items: own } = decision
  const value: unknown =
    ok === true && isJsonObject(response)
      ? { ok, response: { ...response, items: own ?? items } }
      : { ok, error: decision['error'], usage: decision['usage'] ?? null }
  if (isRespondOutput(value)) return value
  throw new LoopchartError('log_corrupt', `frame ${seq} has no decision that can be read`)
}

function effectEvent(frame: EffectSettledFrame): LoopPathEvent {
  const { seq, id, value, in_doubt: isInDoubt, untouched: isUntouched, error } = frame
  if (isInDoubt) return inDoubt(id, isUntouched)
  if (error !== null) return { type: `xstate.error.actor.${id}`, error, actorId: id }
  if (id === 'deadline' || id === 'backoff') return timerDone(id)
  if (id === 'drain' && isDrainOutput(value)) return drainDone(value)
  if (id === 'compact' && isCompactOutput(value)) return compactDone(value)
  throw new LoopchartError('log_corrupt', `frame ${seq} is about ${JSON.stringify(id)}, which is no effect`)
}

// Frames are checked when they are read, and decisions are written by the code above: what is left to tell apart is
// whether one is there at all.
function isRespondOutput(value: unknown): value is RespondOutput {
  if (!isJsonObject(value)) return false
  return value['ok'] === true ? isJsonObject(value['response']) : isJsonObject(value['error'])
}

function isDrainOutput(value: unknown): value is DrainOutput {
  return Array.isArray(value)
}

function isCompactOutput(value: unknown): value is CompactOutput {
  return isJsonObject(value) && 'ok' in value
}

function commandOf(command: JsonObject): LoopCommand {
  if (isCommand(command)) return command
  throw new LoopchartError('log_corrupt', `the log has a command that is none: ${JSON.stringify(command)}`)
}

const COMMANDS: ReadonlySet<unknown> = new Set([
  'run.cancel',
  'run.steer',
  'call.approve',
  'call.deny',
  'call.reconcile',
])

function isCommand(command: unknown): command is LoopCommand {
  return isJsonObject(command) && COMMANDS.has(command['type'])
}

/** A value of ours that is JSON by its type, which the compiler cannot see of an interface. */
export function plain(value: object | null): JsonObject | null {
  return isJsonObject(value) ? value : null
}
