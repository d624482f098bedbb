import type { ContinuityMode, Outcome } from '../../machines/loop.types.ts'
import type {
  FunctionCallItemParam,
  FunctionCallOutputItemParam,
} from '../protocol/generated/openresponses.ts'
import type { AnyItem } from '../protocol/items.ts'
import { isJsonObject, parseJson, type Json } from '../protocol/json.ts'
import { readText } from '../stream/open-item.ts'
import { fitText, quoted, toolOutput, type Warn } from './input-parts.ts'
import type { PairedItem } from './pair-calls.ts'

/** What the model is told about a call that gave no output of its own. */
export type AnswerText = (outcome: Outcome, tool: string, detail: string | null) => string

/** A call of the model's, told to it again. */
export function sentCall({ item, callId }: PairedItem, warn: Warn): FunctionCallItemParam {
  const id = readText(item, 'id') ?? `fc_${callId}`
  const args = sentArguments(item['arguments'])
  return {
    type: 'function_call',
    id,
    call_id: callId,
    name: sentName(item['name'], warn),
    arguments: args,
    ...statusOf(item),
  }
}

// Providers parse the arguments of past calls and refuse the request when they cannot.
function sentArguments(value: Json | undefined): string {
  if (typeof value === 'string') return parseJson(value) === undefined ? '{}' : value
  return isJsonObject(value) ? JSON.stringify(value) : '{}'
}

function sentName(value: Json | undefined, warn: Warn): string {
  const name = typeof value === 'string' ? value : ''
  const sent = name.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64) || 'unnamed'
  if (sent !== name) warn(`the name of the call ${quoted(name)} was sent as ${quoted(sent)}`)
  return sent
}

function statusOf({ status }: AnyItem): Pick<FunctionCallItemParam, 'status'> {
  const isStatus = status === 'in_progress' || status === 'completed' || status === 'incomplete'
  return isStatus ? { status } : {}
}

/** The output of a call: what the tool gave, or what there is to say about a call that did not run. */
export function sentOutput(
  { item, callId }: PairedItem,
  mode: ContinuityMode,
  answerText: AnswerText,
  warn: Warn,
): FunctionCallOutputItemParam {
  const { output = null } = item
  return {
    type: 'function_call_output',
    ...(mode === 'stateless' ? { id: `output_${callId}` } : {}),
    call_id: callId,
    output: output === null ? fitText(answerFor(item, answerText), warn) : toolOutput(output, warn),
    ...statusOf(item),
  }
}

function answerFor(item: AnyItem, answerText: AnswerText): string {
  const outcome = isOutcome(item['outcome']) ? item['outcome'] : 'outcome_unknown'
  return answerText(outcome, readText(item, 'tool') ?? '', readText(item, 'detail'))
}

const OUTCOMES: Readonly<Record<Outcome, true>> = {
  ok: true,
  error: true,
  denied: true,
  timeout: true,
  cancelled: true,
  unknown_tool: true,
  bad_arguments: true,
  not_allowed: true,
  duplicate: true,
  truncated: true,
  limit: true,
  outcome_unknown: true,
}

function isOutcome(value: Json | undefined): value is Outcome {
  return typeof value === 'string' && Object.hasOwn(OUTCOMES, value)
}
