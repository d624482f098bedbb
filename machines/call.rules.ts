// What becomes of the calls of one response: where each stands, who was asked about it, which run next.
import type { AnyItem } from '../src/protocol/items.ts'
import type {
  ApprovalScope,
  CallAnswer,
  CallFacts,
  LoopCall,
  LoopContext,
  LoopEmitted,
  LoopResponse,
  ProposedCall,
  RememberedAnswer,
  RunBudget,
  RunToolInput,
  RunToolOutput,
  TokenUsage,
} from './loop.types.ts'

// Eight calls may take turns and are still seen to go in circles; what is further back does not grow the context.
const RESULTS_PER_REPEAT = 8

/** Where each call of a response stands before any has run. */
export function proposeCalls(context: LoopContext, { calls }: LoopResponse): readonly LoopCall[] {
  const byTool = { ...context.counts.byTool }
  return calls.map((call) => proposeCall(context, call, byTool))
}

/** The same for one call, which is counted for its tool when it may run. */
function proposeCall(context: LoopContext, call: ProposedCall, byTool: Record<string, number>): LoopCall {
  const { disposition, facts, slot } = call
  if (disposition === 'bad_arguments') {
    return unrun(call, disposition, 'the sources of the response disagree on them')
  }
  if (disposition !== 'ready') return unrun(call, disposition, null)
  const known = earlierAnswer(call, context)
  if (known !== null) return standing(call, 'settled', 0, known)
  const { callsPerResponse } = context.settings.limits
  if (slot >= callsPerResponse) {
    return unrun(call, 'limit', `at most ${callsPerResponse} calls in one response`)
  }
  const { tool, maxCalls, refusal, approval } = facts
  const used = tool === null ? 0 : (byTool[tool] ?? 0)
  if (maxCalls !== null && used >= maxCalls) {
    return unrun(call, 'limit', `at most ${maxCalls} calls of this tool`)
  }
  if (tool !== null && refusal === null) byTool[tool] = used + 1
  if (approval === null || refusal !== null) return standing(call, 'runnable', 0, null)
  const said = rememberedFor(call, context.remembered)
  if (said === null) return standing(call, 'undecided', 0, null)
  return said.isApproved ? standing(call, 'runnable', 0, null) : unrun(call, 'denied', said.reason)
}

/** A call that is settled without its running. */
function unrun(call: ProposedCall, outcome: CallAnswer['outcome'], detail: string | null): LoopCall {
  return standing(call, 'settled', 0, { outcome, output: null, detail })
}

// Written out, as every turn makes some: spreads of this many fields cost more than all else that is done with a call.
function standing(
  call: ProposedCall,
  status: LoopCall['status'],
  attempt: number,
  answer: CallAnswer | null,
): LoopCall {
  const { slot, outputIndex, itemId, callId, name, disposition, facts } = call
  return {
    slot,
    outputIndex,
    itemId,
    callId,
    name,
    arguments: call.arguments,
    disposition,
    facts,
    status,
    attempt,
    answer,
  }
}

/** What may become of a call: where it stands, never what it is. */
export type CallChange = Partial<Pick<LoopCall, 'status' | 'attempt' | 'answer'>>

/** What was said for the whole run and fits a call; null: nothing, or the call is one that is asked about each time. */
function rememberedFor(
  { facts }: ProposedCall,
  remembered: LoopContext['remembered'],
): RememberedAnswer | null {
  if (facts.approval?.isEachTime !== false) return null
  return remembered[rememberedAs(facts, 'call')] ?? remembered[rememberedAs(facts, 'tool')] ?? null
}

// By reason too: who lets a tool write has not said a word about what a rule asks.
function rememberedAs({ argumentsHash, tool, approval }: CallFacts, scope: ApprovalScope): string {
  return scope === 'call' ? `call ${argumentsHash}` : `tool ${tool} ${approval?.reason}`
}

/** An answer to a question about one call: what it changes, for that call and for those that it was meant for as well. */
export function answerCall(
  context: LoopContext,
  callId: string,
  said: RememberedAnswer,
  scope: ApprovalScope | null,
): Pick<LoopContext, 'calls' | 'remembered'> {
  const change = (): CallChange => (said.isApproved ? { status: 'runnable' } : settled('denied', said.reason))
  const calls = changeCall(context.calls, isOpen(callId, 'undecided'), change)
  const call = context.calls.find(isOpen(callId, 'undecided'))
  if (scope === null || call === undefined) return { calls, remembered: context.remembered }
  const remembered = { ...context.remembered, [rememberedAs(call.facts, scope)]: said }
  const isMeant = (other: LoopCall): boolean =>
    other.status === 'undecided' && rememberedFor(other, remembered) !== null
  return { calls: changeCall(calls, isMeant, change), remembered }
}

/** Whether an answer fits a call that waits for one: what was shown is what would run, and it may be said so widely. */
export function canAnswer(
  { calls }: LoopContext,
  { callId, argumentsHash, remember }: AnswerParams,
): boolean {
  const call = calls.find(isOpen(callId, 'undecided'))
  if (call === undefined) return false
  const isSame = argumentsHash === undefined || argumentsHash === call.facts.argumentsHash
  return isSame && (remember === undefined || call.facts.approval?.isEachTime === false)
}

export interface AnswerParams {
  readonly callId: string
  readonly argumentsHash?: string
  readonly remember?: ApprovalScope
}

/** The questions that a response raises, all at once: they may be answered in any order. */
export function questionsOf(context: LoopContext): readonly LoopEmitted[] {
  const questions: LoopEmitted[] = []
  for (let at = 0; at < context.calls.length; at += 1) {
    const call = context.calls[at]
    if (call?.status === 'undecided') questions.push({ type: 'approval_requested', callId: call.callId })
  }
  return questions
}

/** What a call is started with. */
export function runToolInput(context: LoopContext, call: LoopCall, attempt: number): RunToolInput {
  return { turn: context.turn, call, attempt, left: budgetLeft(context) }
}

/** What is left of the limits, for a run within the run. */
export function budgetLeft({ settings, counts, usage, deadline }: LoopContext): RunBudget {
  const { limits } = settings
  return {
    toolCalls: Math.max(0, limits.toolCalls - counts.toolCalls),
    tokens: limits.tokens === null ? null : Math.max(0, limits.tokens - usage.total_tokens),
    deadlineAt: deadline.deadlineAt,
  }
}

/** What a call gets whose id an earlier response had already: the same answer for the same call, and it never runs. */
function earlierAnswer(call: ProposedCall, { items }: LoopContext): CallAnswer | null {
  let made: AnyItem | null = null
  // A plain loop: this is asked of every call, and the conversation is long.
  for (let at = 0; at < items.length; at += 1) {
    const item = items[at]
    if (item?.['call_id'] !== call.callId) continue
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
  return calls.find(isUnsettled) ?? null
}

/** How many calls are not settled. */
export function openCalls({ calls }: LoopContext): number {
  let count = 0
  for (let at = 0; at < calls.length; at += 1) if (calls[at]?.status !== 'settled') count += 1
  return count
}

/** The call that an actor is at work on. */
export function callOf({ calls }: LoopContext, id: string): LoopCall | null {
  for (let at = 0; at < calls.length; at += 1) {
    const call = calls[at]
    if (call !== undefined && toolId(call.slot) === id) return call
  }
  return null
}

// What every turn asks of its calls has a name: a function that is made anew for each question costs more than the
// answer.
function isUnsettled({ status }: LoopCall): boolean {
  return status !== 'settled'
}

export function isNotRunning({ status }: LoopCall): boolean {
  return status !== 'running'
}

export function slotOf({ slot }: LoopCall): number {
  return slot
}

/**
 * The calls that run next: the longest run of runnable ones from the head, never past one that is undecided or in
 * doubt. One at a time, or, in parallel mode, as many as do not conflict.
 */
export function nextBatch(context: LoopContext): readonly LoopCall[] {
  const { toolExecution, maxConcurrency } = context.settings
  if (toolExecution !== 'parallel') {
    const head = headCall(context)
    return head?.status === 'runnable' ? [head] : []
  }
  const batch: LoopCall[] = []
  for (const call of context.calls) {
    if (call.status === 'settled') continue
    const isFull = batch.length >= maxConcurrency
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

/** The calls with those of a batch at work. */
export function runBatch(calls: readonly LoopCall[], batch: readonly LoopCall[]): readonly LoopCall[] {
  return calls.map((call) =>
    batch.includes(call) ? standing(call, 'running', call.attempt, call.answer) : call,
  )
}

/** The calls with one of them changed. */
export function changeCall(
  calls: readonly LoopCall[],
  isMeant: (call: LoopCall) => boolean,
  change: (call: LoopCall) => CallChange,
): readonly LoopCall[] {
  return calls.map((call) => {
    if (!isMeant(call)) return call
    const { status = call.status, attempt = call.attempt, answer = call.answer } = change(call)
    return standing(call, status, attempt, answer)
  })
}

/** Calls that are about to run, or to be asked about, are counted before they do. */
export function countCalls({ calls, counts }: LoopContext): LoopContext['counts'] {
  const byTool: Record<string, number> = { ...counts.byTool }
  let { toolCalls } = counts
  for (let at = 0; at < calls.length; at += 1) {
    const call = calls[at]
    if (call === undefined || call.status === 'settled') continue
    toolCalls += 1
    const { tool, refusal } = call.facts
    // A call that was refused satisfies no choice and uses up no tool.
    if (tool !== null && refusal === null) byTool[tool] = (byTool[tool] ?? 0) + 1
  }
  return { toolCalls, byTool }
}

/** Ids of actors are ours, never the model's. */
export function toolId(slot: number): `tool.${number}` {
  return TOOL_IDS[slot] ?? `tool.${slot}`
}

// Of the calls that most responses have, so that no turn makes them anew.
const TOOL_IDS = Array.from({ length: 16 }, (_, slot): `tool.${number}` => `tool.${slot}`)

export function isOpen(callId: string, status: LoopCall['status']): (call: LoopCall) => boolean {
  return (call) => call.callId === callId && call.status === status
}

export const CANCELLED: CallAnswer = { outcome: 'cancelled', output: null, detail: null }

export function settled(outcome: CallAnswer['outcome'], detail: string | null): CallChange {
  return { status: 'settled', answer: { outcome, output: null, detail } }
}

export function settleCall(context: LoopContext, id: string, result: RunToolOutput): Partial<LoopContext> {
  const call = callOf(context, id)
  if (call === null) return {}
  const { calls, usage, recentResults, settings } = context
  const { outcome, output, detail, outputHash } = result
  const results = recentResults.concat(`${call.facts.argumentsHash} ${outputHash}`)
  const most = RESULTS_PER_REPEAT * settings.limits.noProgress
  const ended = standing(call, 'settled', call.attempt, { outcome, output, detail })
  return {
    calls: calls.with(calls.indexOf(call), ended),
    usage: addUsage(usage, result.usage),
    recentResults: results.length > most ? results.slice(-most) : results,
  }
}

/** Calls that a step settled without their running: somebody must be told, and no effect will. */
export function newlySettled(
  before: readonly LoopCall[],
  after: readonly LoopCall[],
): readonly LoopEmitted[] {
  const told: LoopEmitted[] = []
  for (let at = 0; at < after.length; at += 1) {
    const call = after[at]
    if (call === undefined || call.answer === null || before[at]?.answer != null) continue
    const { callId, name, answer } = call
    told.push({ type: 'call_settled', callId, name, answer })
  }
  return told
}

export function runningSlots({ calls }: LoopContext): readonly number[] {
  return calls.filter(({ status }) => status === 'running').map(({ slot }) => slot)
}

export function addUsage(sum: TokenUsage, more: TokenUsage | null): TokenUsage {
  // A log from before failed compactions could use something has nothing there.
  if (more == null) return sum
  return {
    prompt_tokens: sum.prompt_tokens + more.prompt_tokens,
    completion_tokens: sum.completion_tokens + more.completion_tokens,
    total_tokens: sum.total_tokens + more.total_tokens,
    cached: sum.cached + more.cached,
    reasoning: sum.reasoning + more.reasoning,
  }
}
