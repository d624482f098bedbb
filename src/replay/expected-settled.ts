import type { ResponseSettledFrame } from '../frames/generated/frame.ts'
import type { Agent } from '../loop/agent.ts'
import { plain } from '../loop/decisions.ts'
import { promoteItems } from '../loop/promote-items.ts'
import type { Announcement } from '../loop/respond.ts'
import { retryOf } from '../loop/retry.ts'
import { readUsage } from '../loop/usage.ts'
import type { AnyItem } from '../protocol/items.ts'
import { isJsonObject, type Json, type JsonObject } from '../protocol/json.ts'
import { outputText } from '../protocol/output-text.ts'
import type { AssembledResponse } from '../stream/assemble-response.ts'
import type { RespondInput } from './replayed-response.ts'

export interface SettledRequest {
  readonly agent: Agent
  readonly input: RespondInput
  readonly announced: Announcement
  /** What the recorded bytes came to; null when there were none. */
  readonly assembled: AssembledResponse | null
}

type Settled = Pick<
  ResponseSettledFrame,
  'turn' | 'attempt' | 'response_id' | 'status' | 'items' | 'usage' | 'error' | 'decision'
>

/**
 * What a `response_settled` must say, given what its request was and what the decoder makes of the recorded bytes.
 * What only the world knew is taken from the frame itself: how the connection failed, what the tools said of their
 * calls, what a check of the format found.
 */
export function expectedSettled(frame: ResponseSettledFrame, request: SettledRequest): Settled {
  const { assembled, input } = request
  const isFailure = assembled === null || assembled.error !== null || hasPassedLimit(frame)
  const error = isFailure ? errorOf(frame, request) : null
  return {
    turn: input.turn,
    attempt: input.attempt,
    response_id: assembled?.responseId ?? null,
    status: error === null ? (assembled?.status ?? 'completed') : 'failed',
    items: assembled?.items ?? [],
    usage: assembled?.usage ?? null,
    error: error === null ? null : { code: textOf(error['code']), message: textOf(error['message']) },
    decision:
      error === null && assembled !== null
        ? responseDecision(frame, assembled, hasFormat(request))
        : { ok: false, error, usage: plain(readUsage(assembled?.usage ?? null)) },
  }
}

// What was too large was not kept, so nobody can find it too large again.
function hasPassedLimit({ decision }: ResponseSettledFrame): boolean {
  const code = fieldsOf(decision['error'])['code']
  return code === 'event_too_large' || code === 'response_too_large'
}

function errorOf(
  { decision }: ResponseSettledFrame,
  { agent, input, announced, assembled }: SettledRequest,
): JsonObject {
  if (!announced.ok) return { ...announced.error }
  const told = toldError(fieldsOf(decision['error']), input)
  if (assembled?.error == null) return told
  const { code, message, retriesMax, isContinuity, isLost, retryAt } = retryOf(agent, input, {
    stream: assembled.error,
  })
  // A connection that failed beside its body is told by whoever held it.
  if (told['code'] !== code && told['message'] !== message) return told
  const isRetried = retryAt !== null
  return {
    ...told,
    code,
    message,
    retriesMax,
    isContinuity,
    ...('isLost' in told && { isLost }),
    retryAt: isRetried && typeof told['retryAt'] === 'number' ? told['retryAt'] : isRetried ? 'a time' : null,
  }
}

// Only what was asked to go on from a response can have lost it. A log from before this was told has nothing there.
function toldError(error: JsonObject, { previousResponseId }: RespondInput): JsonObject {
  if (!('isLost' in error)) return error
  const { isLost, isContinuity } = error
  return { ...error, isLost: isLost === true && isContinuity === true && previousResponseId !== null }
}

function hasFormat({ agent, input }: SettledRequest): boolean {
  const { text } = agent.description.plans[input.model]?.requestOptions ?? {}
  return text?.format != null
}

function responseDecision(
  { decision }: ResponseSettledFrame,
  assembled: AssembledResponse,
  isFormatted: boolean,
): JsonObject {
  const told = fieldsOf(decision['response'])
  const toldCalls = Array.isArray(told['calls']) ? told['calls'].map(fieldsOf) : []
  const claim = (item: AnyItem): { readonly name: string; readonly arguments: string } | null => {
    const callId = item['call_id'] ?? item['id']
    const call = toldCalls.find((one) => one['callId'] === callId && callId !== undefined)
    return call === undefined ? null : { name: textOf(call['name']), arguments: textOf(call['arguments']) }
  }
  const { items, calls } = promoteItems({ ...NO_TOOLS, claim }, assembled)
  const isChecked = isFormatted && calls.length === 0 && assembled.status === 'completed'
  const fault = isChecked ? (told['formatFault'] ?? null) : null
  const response = {
    responseId: assembled.responseId,
    status: assembled.status,
    incompleteReason: assembled.incompleteReason,
    calls: calls.map((call, at) => ({ ...call, facts: toldCalls[at]?.['facts'] ?? null })),
    text: outputText(assembled.items),
    output: isChecked && fault === null ? (told['output'] ?? null) : null,
    formatFault: fault,
    usage: plain(readUsage(assembled.usage)),
  }
  const isOwn = items.every((item, at) => item === assembled.items[at])
  return { ok: true, response, items: isOwn ? null : items }
}

const NO_TOOLS = { definitions: [], appraise: none, run: none, answerText: none }

function none(): never {
  throw new Error('nothing runs in a replay')
}

function fieldsOf(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {}
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : ''
}
