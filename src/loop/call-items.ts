import type { ContinuityMode, Outcome } from '../../machines/loop.types.ts'
import type {
  FunctionCallItemParam,
  FunctionCallOutputItemParam,
} from '../protocol/generated/openresponses.ts'
import type { AnyItem } from '../protocol/items.ts'
import { isJsonObject, parseJson, type Json } from '../protocol/json.ts'
import { readText } from '../stream/open-item.ts'
import { CALL_ID_LENGTH_MAX, fitText, LENGTH_MAX, quoted, toolOutput, type Warn } from './input-parts.ts'
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

// Where there are more, it no longer matters what one of them takes; and all are compared with all.
const OUTPUTS_MAX = 16

/**
 * What most turns add to a conversation that the provider has: an output that is a text for each call, which is sent as it
 * is. Written without the way that all other items take, and the same as there: null unless that is certain.
 */
export function outputsText(items: readonly AnyItem[]): string | null {
  if (items.length > OUTPUTS_MAX) return null
  let text = ''
  for (let at = 0; at < items.length; at += 1) {
    const item = items[at]
    const written = item === undefined || isAnswered(items, at, item) ? null : outputText(item)
    if (written === null) return null
    text = at === 0 ? written : `${text},${written}`
  }
  return text
}

// Of two outputs for one call only the first is sent.
function isAnswered(items: readonly AnyItem[], end: number, item: AnyItem): boolean {
  for (let at = 0; at < end; at += 1) if (items[at]?.['call_id'] === item['call_id']) return true
  return false
}

// Open Responses, FunctionCallOutputItemParam. It counts code points, of which a text never has more than units.
function outputText(item: AnyItem): string | null {
  const { type, call_id: callId, output, status } = item
  if (type !== 'function_call_output' || status !== undefined) return null
  if (typeof callId !== 'string' || callId === '' || callId.length > CALL_ID_LENGTH_MAX) return null
  if (typeof output !== 'string' || output.length > LENGTH_MAX.text) return null
  return `{"type":"function_call_output","call_id":${JSON.stringify(callId)},"output":${JSON.stringify(output)}}`
}
