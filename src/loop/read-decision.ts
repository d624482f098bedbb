// What frames decide, read without anything of Node, so that a page can fold a log as the driver does.
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

/** The SHA-256 of a text in UTF-8, as base64url. */
export type Digest = (text: string) => string

/** The event that a frame stands for; null when the frame decides nothing. */
export function readDecision(frame: Frame, digest: Digest): LoopPathEvent | null {
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
        outputHash: outputHash(output, digest),
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

// A short output is its own hash.
const HASHED_FROM = 256

/** What tells outputs apart; never long. */
export function outputHash(output: RunToolOutput['output'], digest: Digest): string {
  const text = JSON.stringify(output)
  return text.length < HASHED_FROM ? text : digest(text)
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
