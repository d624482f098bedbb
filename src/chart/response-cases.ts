import type {
  ApprovalQuestion,
  CallFacts,
  LoopContext,
  LoopResponse,
  Outcome,
  ProposedCall,
  RespondError,
  RunToolOutput,
  TokenUsage,
} from '../../machines/loop.types.ts'
import type { AnyItem } from '../protocol/items.ts'

/** A call in a made-up response: what sets it apart from a call that may just run. */
export interface CallCase extends Partial<CallFacts> {
  readonly disposition?: ProposedCall['disposition']
  /** The id of the call in this slot instead of its own. */
  readonly callIdOf?: number
}

/** What is asked about a made-up call that needs a yes. */
export const ASKED: ApprovalQuestion = { reason: 'tool', isEachTime: false, shown: 'look around' }

/** A made-up response, given the run that it comes to. */
export type ResponseCase = (context: LoopContext) => LoopResponse

/** Words and no calls: nothing is left to do. */
export const says: ResponseCase = (context) => responseOf(context, [], {})

/** A response with calls. */
export function asks(...cases: readonly CallCase[]): ResponseCase {
  return (context) =>
    responseOf(
      context,
      cases.map((one, slot) => callOf(context.turn, slot, one)),
      {},
    )
}

/** A response like another, with some fields changed. */
export function but(base: ResponseCase, change: Partial<LoopResponse>): ResponseCase {
  return (context) => ({ ...base(context), ...change })
}

/** The model declines: a message with a refusal in it. */
export const declines: ResponseCase = (context) => {
  const content = [{ type: 'refusal', refusal: 'No.' }]
  const items = [{ type: 'message', id: `msg_${context.turn}`, role: 'assistant', content }]
  return { ...says(context), text: '', items }
}

/** The provider cut the response short. */
export const CUT_SHORT = { status: 'incomplete', incompleteReason: 'max_output_tokens' } as const

/** The text does not parse to what was asked for. */
export const WRONG_FORMAT = { formatFault: 'the text is not JSON', output: null } as const

function responseOf(
  context: LoopContext,
  calls: readonly ProposedCall[],
  change: Partial<LoopResponse>,
): LoopResponse {
  const { turn, attempt } = context
  const text = calls.length === 0 ? `answer ${turn}` : ''
  const reasoning: AnyItem = { type: 'reasoning', id: `rs_${turn}`, summary: [] }
  return {
    responseId: `resp_${turn}_${attempt}`,
    status: 'completed',
    incompleteReason: null,
    items: [reasoning, ...(calls.length === 0 ? [messageItem(turn, text)] : calls.map(callItem))],
    calls,
    text,
    output: null,
    formatFault: null,
    usage: USAGE,
    ...change,
  }
}

/** What every made-up response has used. */
export const USAGE: TokenUsage = {
  prompt_tokens: 7,
  completion_tokens: 3,
  total_tokens: 10,
  cached: 2,
  reasoning: 1,
}

function messageItem(turn: number, text: string): AnyItem {
  const content = [{ type: 'output_text', text }]
  return { type: 'message', id: `msg_${turn}`, role: 'assistant', content }
}

function callItem({ itemId, callId, name, arguments: args }: ProposedCall): AnyItem {
  return { type: 'function_call', id: itemId, call_id: callId, name, arguments: args }
}

function callOf(turn: number, slot: number, one: CallCase): ProposedCall {
  const { disposition = 'ready', callIdOf = slot, ...facts } = one
  const tool = facts.tool === undefined ? 'look' : facts.tool
  return {
    slot,
    outputIndex: slot + 1,
    itemId: `fc_${turn}_${slot}`,
    callId: callId(turn, callIdOf),
    name: tool ?? 'nobody',
    arguments: '{}',
    disposition,
    facts: {
      tool,
      refusal: null,
      approval: null,
      readOnly: false,
      idempotent: false,
      conflicts: null,
      timeoutMs: 1000,
      maxCalls: null,
      // The same in every turn, so that a model that goes in circles can be made up.
      argumentsHash: `arguments of ${slot}`,
      ...facts,
    },
  }
}

function callId(turn: number, slot: number): string {
  return `call_${turn}_${slot}`
}

/** A made-up request that failed. */
export function failure(code: string, change: Partial<RespondError> = {}): RespondError {
  return {
    code,
    message: `${code} happened`,
    retryAt: null,
    retriesMax: null,
    isContinuity: false,
    isLost: false,
    isFallback: false,
    ...change,
  }
}

/** What a made-up call comes to. */
export function toolOutput(outcome: Outcome): RunToolOutput {
  const output = `it was ${outcome}`
  return {
    outcome,
    output,
    detail: null,
    outputHash: JSON.stringify(output),
    usage: outcome === 'ok' ? USAGE : null,
  }
}
