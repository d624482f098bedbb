import type { FunctionCallOutputItemParam } from '../../protocol/generated/openresponses.ts'
import { parseJson } from '../../protocol/json.ts'

/** What a tool can give besides text. */
export type OutputPart = Exclude<FunctionCallOutputItemParam['output'], string>[number]

/** A call of an earlier turn as callers give it: what was called, with what, and what came of it. */
export interface ToolCallEntry {
  readonly callId: string
  readonly name: string
  readonly args: unknown
  readonly result: string
  readonly isError: boolean
}

/** A call of an earlier turn as it is kept: nothing in it changes when the caller goes on with its objects. */
export interface PriorCall {
  readonly callId: string
  /** The id that a request may hold; the same as `callId` nearly always. */
  readonly sentCallId: string
  readonly name: string
  /** The arguments as JSON; a model may have written something else. */
  readonly argumentsText: string
  readonly result: string
  readonly isError: boolean
  /** What the tool gave, when that was not one text; `result` then tells of it in words. */
  readonly parts: readonly OutputPart[] | null
}

/** Keeps a call. Arguments that JSON cannot carry are kept as `{}`, since providers parse those of past calls. */
export function priorCall(entry: ToolCallEntry, sentCallId: string): PriorCall {
  const { callId, name, args, result, isError } = entry
  return { callId, sentCallId, name, argumentsText: jsonText(args), result, isError, parts: null }
}

function jsonText(value: unknown): string {
  try {
    const text: unknown = JSON.stringify(value)
    return typeof text === 'string' ? text : '{}'
  } catch {
    // A cycle, a bigint, or a toJSON that throws.
    return '{}'
  }
}

/** The call as callers know it. */
export function toolCallEntry({ callId, name, argumentsText, result, isError }: PriorCall): ToolCallEntry {
  return { callId, name, args: parseJson(argumentsText), result, isError }
}
