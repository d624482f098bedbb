// What moves a run, as frames: each decision has exactly one, the first of its step, and folding those of a log gives the
// run again.
import { hash } from 'node:crypto'

import type { RespondOutput, RunToolOutput } from '../../machines/loop.types.ts'
import type { LoopPathEvent } from '../chart/loop-events.ts'
import type { Frame, ResponseSettledFrame } from '../frames/generated/frame.ts'
import { isJsonObject, type JsonObject } from '../protocol/json.ts'
import { outputHash, readDecision } from './read-decision.ts'

/** The decision of a settled response: what the chart was told, without items that the frame has anyway. */
export function respondDecision(output: RespondOutput, items: ResponseSettledFrame['items']): JsonObject {
  if (!output.ok) return { ok: false, error: { ...output.error }, usage: plain(output.usage) }
  const {
    items: own,
    responseId,
    status,
    incompleteReason,
    calls,
    text,
    formatFault,
    usage,
  } = output.response
  let isSame = own.length === items.length
  for (let at = 0; isSame && at < own.length; at += 1) isSame = own[at] === items[at]
  const response = {
    responseId,
    status,
    incompleteReason,
    calls,
    text,
    output: output.response.output,
    formatFault,
    usage,
  }
  return { ok: true, response: plain(response), items: isSame ? null : own }
}

/** The event that a frame stands for; null when the frame decides nothing. */
export function decisionOf(frame: Frame): LoopPathEvent | null {
  return readDecision(frame, digest)
}

/** Whether a frame is the first of a step that something other than the start decided. */
export function isDecision(frame: Frame): boolean {
  return readDecision(frame, NO_DIGEST) !== null
}

// Whether there is a decision does not depend on what the output is.
const NO_DIGEST = (): string => ''

/** What tells outputs apart; never long. */
export function hashOf(output: RunToolOutput['output']): string {
  return outputHash(output, digest)
}

/** The SHA-256 of a text, as base64url. */
export function digest(text: string): string {
  return hash('sha256', text, 'base64url')
}

/** A value of ours that is JSON by its type, which the compiler cannot see of an interface. */
export function plain(value: object | null): JsonObject | null {
  return isJsonObject(value) ? value : null
}
