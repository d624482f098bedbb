// The arithmetic behind the chart's questions: pure functions of its context, without a decision of their own.
import type { AnyItem } from '../src/protocol/items.ts'
import type {
  CallAnswer,
  LimitName,
  LoopCall,
  LoopCommand,
  LoopContext,
  LoopEmitted,
  LoopEnding,
  LoopInput,
  LoopOutput,
  LoopResponse,
  ProposedCall,
  RespondError,
  RespondInput,
  RunToolOutput,
  TokenUsage,
} from './loop.types.ts'

const NO_USAGE: TokenUsage = {
  prompt_tokens: 0,
  completion_tokens: 0,
  total_tokens: 0,
  cached: 0,
  reasoning: 0,
}

export function initialContext({ items, settings, deadlineAt, wallTimeMs }: LoopInput): LoopContext {
  return {
    settings,
    deadline: { deadlineAt, wallTimeMs },
    route: { model: 0, mode: settings.mode, since: 0 },
    kind: 'initial',
    turn: 1,
    attempt: 0,
    items,
    knownItems: 0,
    responseId: null,
    response: null,
    error: null,
    calls: [],
    steers: [],
    toolCalls: 0,
    toolCallsByTool: {},
    recentResults: [],
    repairs: 0,
    usage: NO_USAGE,
    ending: null,
  }
}

export function addUsage(sum: TokenUsage, more: TokenUsage | null): TokenUsage {
  if (more === null) return sum
  return {
    prompt_tokens: sum.prompt_tokens + more.prompt_tokens,
    completion_tokens: sum.completion_tokens + more.completion_tokens,
    total_tokens: sum.total_tokens + more.total_tokens,
    cached: sum.cached + more.cached,
    reasoning: sum.reasoning + more.reasoning,
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
  const { turns, toolCalls, tokens } = context.settings.limits
  const used = context.usage.total_tokens
  if (tokens !== null && used >= tokens) return { limit: 'tokens', used, allowed: tokens }
  if (context.turn >= turns) return { limit: 'turns', used: context.turn, allowed: turns }
  const wanted = context.toolCalls + context.calls.filter(({ status }) => status !== 'settled').length
  return wanted > toolCalls ? { limit: 'tool_calls', used: wanted, allowed: toolCalls } : null
}

/** The call that gave the same result too often, as a limit. */
export function stuckLimit({ recentResults, calls, settings }: LoopContext): ReachedLimit | null {
  const allowed = settings.limits.noProgress
  // Only what this response added can have become too often.
  const counts = recentResults.slice(-calls.length).map((latest) => countOf(latest, recentResults))
  const used = Math.max(0, ...counts)
  return used >= allowed ? { limit: 'no_progress', used, allowed } : null
}

function countOf(wanted: string, texts: readonly string[]): number {
  let count = 0
  for (const text of texts) if (text === wanted) count += 1
  return count
}

// Eight calls may take turns and are still seen to go in circles; what is further back does not grow the context.
const RESULTS_PER_REPEAT = 8

/** Where each call of a response stands before any has run. */
function proposeCalls(context: LoopContext, response: LoopResponse): readonly LoopCall[] {
  const byTool = { ...context.toolCallsByTool }
  const { callsPerResponse } = context.settings.limits
  return response.calls.map((call): LoopCall => {
    const settled = (outcome: CallAnswer['outcome'], detail: string | null = null): LoopCall => ({
      ...call,
      status: 'settled',
      attempt: 0,
      answer: { outcome, output: null, detail },
    })
    if (call.disposition === 'bad_arguments') {
      return settled(call.disposition, 'the sources of the response disagree on them')
    }
    if (call.disposition !== 'ready') return settled(call.disposition)
    const known = earlierAnswer(call, context)
    if (known !== null) return { ...call, status: 'settled', attempt: 0, answer: known }
    if (call.slot >= callsPerResponse)
      return settled('limit', `at most ${callsPerResponse} calls in one response`)
    const { tool, maxCalls, refusal, needsApproval } = call.facts
    const used = tool === null ? 0 : (byTool[tool] ?? 0)
    if (maxCalls !== null && used >= maxCalls)
      return settled('limit', `at most ${maxCalls} calls of this tool`)
    if (tool !== null && refusal === null) byTool[tool] = used + 1
    const isUndecided = needsApproval && refusal === null
    return { ...call, status: isUndecided ? 'undecided' : 'runnable', attempt: 0, answer: null }
  })
}

/** What a call gets whose id an earlier response had already: the same answer for the same call, and it never runs. */
function earlierAnswer(call: ProposedCall, { items }: LoopContext): CallAnswer | null {
  let made: AnyItem | null = null
  // A plain loop: this is asked of every call, and the conversation is long.
  for (const item of items) {
    if (item['call_id'] !== call.callId) continue
    if (item.type === 'function_call') made ??= item
    else if (made !== null) return repeatedAnswer(call, made, item['output'])
  }
  return made === null ? null : repeatedAnswer(call, made, undefined)
}

function repeatedAnswer(call: ProposedCall, made: AnyItem, output: AnyItem[string]): CallAnswer {
  const isSame = made['name'] === call.name && made['arguments'] === call.arguments
  return { outcome: 'duplicate', output: isSame && typeof output === 'string' ? output : null, detail: null }
}

/** The first call that is not settled: output order is the order of decisions. */
export function headCall({ calls }: LoopContext): LoopCall | null {
  return calls.find(({ status }) => status !== 'settled') ?? null
}

/**
 * The calls that run next: the longest run of runnable ones from the head, never past one that is undecided or in
 * doubt. One at a time, or, in parallel mode, as many as do not conflict.
 */
export function nextBatch(context: LoopContext): readonly LoopCall[] {
  const { toolExecution, maxConcurrency } = context.settings
  const most = toolExecution === 'parallel' ? maxConcurrency : 1
  const batch: LoopCall[] = []
  for (const call of context.calls) {
    if (call.status === 'settled') continue
    const isFull = batch.length >= most
    if (call.status !== 'runnable' || isFull || batch.some((other) => isConflict(other, call))) break
    batch.push(call)
  }
  return batch
}

function isConflict(a: ProposedCall, b: ProposedCall): boolean {
  if (a.facts.readOnly && b.facts.readOnly) return false
  const [left, right] = [a.facts.conflicts, b.facts.conflicts]
  return left === null || right === null || left.some((key) => right.includes(key))
}

/** The calls with one of them changed. */
export function changeCall(
  calls: readonly LoopCall[],
  isMeant: (call: LoopCall) => boolean,
  change: (call: LoopCall) => Partial<LoopCall>,
): readonly LoopCall[] {
  return calls.map((call) => (isMeant(call) ? { ...call, ...change(call) } : call))
}

/** What the next request adds to the conversation: an output for each call in output order, then what people said. */
export function answersAndMessages(context: LoopContext): readonly AnyItem[] {
  const { calls, steers, settings } = context
  const outputs = calls.map(({ callId, name, answer }): AnyItem => {
    const { outcome, output, detail } = answer ?? { outcome: 'outcome_unknown', output: null, detail: null }
    const told = { type: 'function_call_output', call_id: callId, output }
    return output === null ? { ...told, outcome, tool: name, detail } : told
  })
  const hasOnlyOutputs = outputs.length > 0 && steers.length === 0
  const messages = hasOnlyOutputs && settings.followUpMessage !== null ? [settings.followUpMessage] : steers
  return [...outputs, ...messages.map(userMessage)]
}

function userMessage(text: string): AnyItem {
  return { type: 'message', role: 'user', content: [{ type: 'input_text', text }] }
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
    toolCallsLeft: Math.max(0, context.settings.limits.toolCalls - context.toolCalls),
    isChoiceSatisfied: Object.keys(context.toolCallsByTool).length > 0,
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
  const items = [...context.items, ...response.items]
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

/** Calls that are about to run, or to be asked about, are counted before they do. */
export function countCalls(context: LoopContext): Pick<LoopContext, 'toolCalls' | 'toolCallsByTool'> {
  const counted = context.calls.filter(({ status }) => status !== 'settled')
  const toolCallsByTool: Record<string, number> = { ...context.toolCallsByTool }
  for (const { facts } of counted) {
    // A call that was refused satisfies no choice and uses up no tool.
    if (facts.tool !== null && facts.refusal === null)
      toolCallsByTool[facts.tool] = (toolCallsByTool[facts.tool] ?? 0) + 1
  }
  return { toolCalls: context.toolCalls + counted.length, toolCallsByTool }
}

/** Ids of actors are ours, never the model's. */
export function toolId(slot: number): `tool.${number}` {
  return `tool.${slot}`
}

export function isOpen(callId: string, status: LoopCall['status']): (call: LoopCall) => boolean {
  return (call) => call.callId === callId && call.status === status
}

export const CANCELLED: CallAnswer = { outcome: 'cancelled', output: null, detail: null }

export function settled(outcome: CallAnswer['outcome'], detail: string | null): Partial<LoopCall> {
  return { status: 'settled', answer: { outcome, output: null, detail } }
}

export function settleCall(context: LoopContext, id: string, result: RunToolOutput): Partial<LoopContext> {
  const call = context.calls.find(({ slot }) => toolId(slot) === id)
  if (call === undefined) return {}
  const { outcome, output, detail, outputHash } = result
  const again = `${call.facts.argumentsHash} ${outputHash}`
  return {
    calls: changeCall(
      context.calls,
      ({ slot }) => slot === call.slot,
      () => ({ status: 'settled', answer: { outcome, output, detail } }),
    ),
    recentResults: [...context.recentResults, again].slice(
      -RESULTS_PER_REPEAT * context.settings.limits.noProgress,
    ),
  }
}

export function needsCompaction({ settings, response }: LoopContext): boolean {
  const { compactAtTokens } = settings
  return compactAtTokens !== null && (response?.usage?.total_tokens ?? 0) >= compactAtTokens
}

/** Calls that a step settled without their running: somebody must be told, and no effect will. */
export function newlySettled(
  before: readonly LoopCall[],
  after: readonly LoopCall[],
): readonly LoopEmitted[] {
  const told: LoopEmitted[] = []
  after.forEach(({ callId, name, answer }, at) => {
    if (answer !== null && before[at]?.answer == null)
      told.push({ type: 'call_settled', callId, name, answer })
  })
  return told
}

export function runningSlots({ calls }: LoopContext): readonly number[] {
  return calls.filter(({ status }) => status === 'running').map(({ slot }) => slot)
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
  return { output: event.output }
}
