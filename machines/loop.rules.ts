// The arithmetic behind the chart's questions: pure functions of its context, without a decision of their own.
import type { AnyItem } from '../src/protocol/items.ts'
import { addUsage, openCalls, proposeCalls } from './call.rules.ts'
import type {
  CallAnswer,
  ContinuityMode,
  LimitName,
  LoopCall,
  LoopCommand,
  LoopContext,
  LoopEnding,
  LoopInput,
  LoopOutput,
  LoopResponse,
  Outcome,
  QueuedMessage,
  RespondError,
  RespondInput,
  TokenUsage,
} from './loop.types.ts'

/** Of what has used nothing yet. */
export const NO_USAGE: TokenUsage = {
  prompt_tokens: 0,
  completion_tokens: 0,
  total_tokens: 0,
  cached: 0,
  reasoning: 0,
}

export function initialContext({ items, settings, deadlineAt, wallTimeMs, cursor }: LoopInput): LoopContext {
  return {
    settings,
    deadline: { deadlineAt, wallTimeMs },
    route: { model: 0, mode: settings.mode, since: 0 },
    kind: 'initial',
    turn: 1,
    attempt: 0,
    items,
    knownItems: cursor?.knownItems ?? 0,
    responseId: cursor?.responseId ?? null,
    response: null,
    error: null,
    calls: [],
    steers: [],
    remembered: {},
    counts: { toolCalls: 0, byTool: {} },
    recentResults: [],
    repairs: 0,
    usage: NO_USAGE,
    ending: null,
  }
}

/** A limit that is used up, with the figures for whoever is told. */
export interface ReachedLimit {
  readonly limit: LimitName
  readonly used: number
  readonly allowed: number
}

/**
 * The limit that forbids another turn, and so the calls of this one: effects whose results no turn will read are
 * waste. Null when there is room.
 */
export function reachedLimit(context: LoopContext): ReachedLimit | null {
  const { turns, toolCalls } = context.settings.limits
  const spent = tokenLimit(context)
  if (spent !== null) return spent
  if (context.turn >= turns) return { limit: 'turns', used: context.turn, allowed: turns }
  const wanted = context.counts.toolCalls + openCalls(context)
  return wanted > toolCalls ? { limit: 'tool_calls', used: wanted, allowed: toolCalls } : null
}

/** The limit that the calls of a response have reached: no progress, or tokens that they used themselves. */
export function limitAfterCalls(context: LoopContext): ReachedLimit | null {
  return stuckLimit(context) ?? tokenLimit(context)
}

/** The limit of tokens, when they are used up. */
export function tokenLimit({ settings, usage }: LoopContext): ReachedLimit | null {
  const { tokens } = settings.limits
  const used = usage.total_tokens
  return tokens !== null && used >= tokens ? { limit: 'tokens', used, allowed: tokens } : null
}

/** The call that gave the same result too often, as a limit. */
function stuckLimit({ recentResults, calls, settings }: LoopContext): ReachedLimit | null {
  const allowed = settings.limits.noProgress
  let used = 0
  // Only what this response added can have become too often.
  for (let at = Math.max(0, recentResults.length - calls.length); at < recentResults.length; at += 1) {
    used = Math.max(used, countOf(recentResults[at] ?? '', recentResults))
  }
  return used >= allowed ? { limit: 'no_progress', used, allowed } : null
}

function countOf(wanted: string, texts: readonly string[]): number {
  let count = 0
  for (let at = texts.indexOf(wanted); at !== -1; at = texts.indexOf(wanted, at + 1)) count += 1
  return count
}

/** What the next request adds to the conversation: an output for each call in output order, then what people said. */
export function answersAndMessages({ calls, steers, settings }: LoopContext): readonly AnyItem[] {
  const outputs = calls.map(outputOrUnknown)
  const { followUpMessage: text } = settings
  if (steers.length > 0) return [...outputs, ...steers.map(userMessage)]
  return outputs.length === 0 || text === null ? outputs : [...outputs, userMessage({ text, by: 'loop' })]
}

function outputOrUnknown(call: LoopCall): AnyItem {
  return callOutput(call, 'outcome_unknown')
}

/** What the model is told of a call; `otherwise` where it has no answer. */
export function callOutput({ callId, name, answer }: LoopCall, otherwise: Outcome): AnyItem {
  const { outcome, output, detail } = answer ?? { outcome: otherwise, output: null, detail: null }
  const told = { type: 'function_call_output', call_id: callId, output }
  return output === null ? { ...told, outcome, tool: name, detail } : told
}

// A request has no place for `by`: it is for whoever makes the conversation shorter and looks for what it is about.
function userMessage({ text, by }: QueuedMessage): AnyItem {
  const message = { type: 'message', role: 'user', content: [{ type: 'input_text', text }] }
  return by === undefined ? message : { ...message, by }
}

export function respondInput(context: LoopContext): RespondInput {
  const isChained = context.route.mode === 'previous_response_id' && context.responseId !== null
  return {
    kind: context.kind,
    turn: context.turn,
    attempt: context.attempt,
    model: context.route.model,
    mode: context.route.mode,
    previousResponseId: isChained ? context.responseId : null,
    items: isChained ? context.items.slice(context.knownItems) : context.items,
    toolCallsLeft: Math.max(0, context.settings.limits.toolCalls - context.counts.toolCalls),
    isChoiceSatisfied: Object.keys(context.counts.byTool).length > 0,
  }
}

export function wallTimeLimit({ deadline }: LoopContext): ReachedLimit {
  const allowed = deadline.wallTimeMs ?? 0
  return { limit: 'wall_time', used: allowed, allowed }
}

export function cancelledEnding(reason: string | undefined): LoopEnding {
  const message = reason === undefined ? 'the run was cancelled' : `the run was cancelled: ${reason}`
  return { state: 'cancelled', reason: 'cancelled', message }
}

export function limitEnding({ limit, used, allowed }: ReachedLimit): LoopEnding {
  const message = `the limit of ${limit} was reached: ${used} of ${allowed}`
  return { state: 'limitExceeded', reason: limit, message }
}

/** What a run ends with. */
export function loopOutput(context: LoopContext): LoopOutput {
  const { response } = context
  return {
    ...(context.ending ?? ENDINGS.completed),
    text: response?.text ?? '',
    output: response?.output ?? null,
    turns: context.turn,
    usage: context.usage,
    reasoning: (response?.items ?? []).filter(({ type }) => type === 'reasoning'),
    unansweredCalls: unansweredCalls(context.items),
  }
}

/** Ends that need no figures. */
export const ENDINGS = {
  completed: { state: 'done', reason: 'completed', message: 'the model had nothing left to do' },
  wrongFormat: {
    state: 'failed',
    reason: 'output_invalid',
    message: 'the answer is not of the format asked for',
  },
  internalError: { state: 'failed', reason: 'internal_error', message: 'an effect was rejected: a bug' },
} as const satisfies Record<string, LoopEnding>

/** Calls for which the model never got an output. */
function unansweredCalls(items: readonly AnyItem[]): readonly string[] {
  const answered = new Set(items.filter(({ type }) => type === 'function_call_output').map(callIdOf))
  return items
    .filter(({ type }) => type === 'function_call')
    .map(callIdOf)
    .filter((callId) => !answered.has(callId))
}

function callIdOf(item: AnyItem): string {
  return typeof item['call_id'] === 'string' ? item['call_id'] : ''
}

export function errorEnding(error: RespondError | null): LoopEnding {
  return {
    state: 'failed',
    reason: error?.code ?? 'internal_error',
    message: error?.message ?? 'no reason is known',
  }
}

export function cutShortEnding(response: LoopResponse | null): LoopEnding {
  const cause = response?.incompleteReason ?? 'no reason given'
  return { state: 'failed', reason: 'incomplete', message: `the provider cut the response short: ${cause}` }
}

export function repairRequest(response: LoopResponse | null): string {
  return `Your answer is not of the format that was asked for: ${response?.formatFault ?? ''}. Answer again, in that format only.`
}

/** Whether the response leaves something to do. */
export function wantsMore({ response, steers, repairs, settings }: LoopContext): boolean {
  if (response === null) return false
  return (
    response.calls.length > 0 ||
    steers.length > 0 ||
    (response.formatFault !== null && repairs < settings.repairsMax) ||
    response.status === 'incomplete'
  )
}

export function takeResponse(context: LoopContext, response: LoopResponse): Partial<LoopContext> {
  const items = context.items.concat(response.items)
  return {
    response,
    error: null,
    items,
    calls: proposeCalls(context, response),
    // A response without an id is one that the provider will not remember: it is said again with the next request.
    knownItems: response.responseId === null ? context.knownItems : items.length,
    responseId: response.responseId ?? context.responseId,
    usage: addUsage(context.usage, response.usage),
  }
}

/** The same request with the whole conversation, which the provider is not asked to remember any of. */
export function startNewChain(
  { attempt, items, error, route }: LoopContext,
  mode: ContinuityMode = route.mode,
): Partial<LoopContext> {
  const known = error?.isLost === true ? items.filter(isSelfContained) : items
  return {
    attempt: attempt + 1,
    // What the provider has forgotten is no failure of the request that is sent now: it may be tried as often as any.
    route: { ...route, mode, since: attempt + 1 },
    items: known,
    responseId: null,
    knownItems: 0,
  }
}

// Reasoning without its content is an id to look up: where the response is gone, that is gone with it.
function isSelfContained(item: AnyItem): boolean {
  return item.type !== 'reasoning' || typeof item['encrypted_content'] === 'string'
}

/** What somebody says about a call that was in doubt. */
export function told(command: Extract<LoopCommand, { type: 'call.reconcile' }>): CallAnswer {
  if (command.as === 'rerun') return { outcome: 'outcome_unknown', output: null, detail: null }
  return { outcome: command.as === 'done' ? 'ok' : 'error', output: command.output, detail: null }
}

/** What an effect settled with, for the guards and actions that are about it. */
export function outputOf<Output>({ event }: { readonly event: { readonly output: Output } }): {
  readonly output: Output
} {
  return event
}
