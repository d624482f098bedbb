import { runningSlots, toolId } from '../../machines/call.rules.ts'
import type { LoopCall, LoopContext, LoopInput, RespondError, TokenUsage } from '../../machines/loop.types.ts'
import {
  compactDone,
  drainDone,
  inDoubt,
  rejected,
  respondDone,
  timerDone,
  toolDone,
  type LoopPathEvent,
} from './loop-events.ts'
import { says, toolOutput, USAGE, type ResponseCase } from './response-cases.ts'
import type { LoopSnapshot } from './loop-snapshot.ts'

/** A run that is told something at its start, and what may happen to it. */
export interface LoopScenario {
  readonly name: string
  readonly input: LoopInput
  /** What the model may answer, in each of the turns explored. */
  readonly responses: readonly ResponseCase[]
  /** After these turns nothing cuts in, no request fails, and the model only speaks. */
  readonly turnsExplored: number
  /** How a request may fail. */
  readonly failures: readonly RespondError[]
  /** Things that cut in anywhere: cancel, steer, the deadline, a rejected effect, a crash, answers for the whole run. */
  readonly cutIns: readonly CutIn[]
}

type CutIn = 'cancel' | 'steer' | 'deadline' | 'bug' | 'crash' | 'stranger' | 'remember'

/** Everything that may happen to a run in the state it is in, in a fixed order. */
export function casesOf(scenario: LoopScenario, snapshot: LoopSnapshot): readonly LoopPathEvent[] {
  if (snapshot.status !== 'active') return []
  const { context, state: path } = snapshot
  const isExplored = context.turn <= scenario.turnsExplored || context.kind === 'wrap_up'
  const has = (cutIn: CutIn): boolean => isExplored && scenario.cutIns.includes(cutIn)
  const cut: LoopPathEvent[] = []
  if (path !== 'stopping') {
    if (has('cancel')) cut.push({ type: 'run.cancel' })
    if (has('steer') && context.steers.length === 0) cut.push({ type: 'run.steer', text: 'listen' })
    if (has('deadline')) cut.push(timerDone('deadline'))
  }
  if (has('stranger')) cut.push({ type: 'call.approve', callId: 'call_of_nobody' }, inDoubt('nobody'))
  const ids = liveEffects(path, context)
  if (has('bug')) cut.push(...ids.map(rejected))
  if (has('crash')) {
    const cutOff = ids.filter((id) => canBeInDoubt(id, context))
    cut.push(...cutOff.flatMap((id) => [inDoubt(id), ...(isCall(id) ? [inDoubt(id, true)] : [])]))
  }
  if (has('remember') && path.startsWith('working.executing'))
    cut.push(...context.calls.flatMap(lastingAnswers))
  const explored = isExplored ? scenario : { responses: [says], failures: [] }
  return [...proceed(explored, path, context), ...cut]
}

type Explored = Pick<LoopScenario, 'responses' | 'failures'>

/** What ordinarily comes next. */
function proceed(explored: Explored, path: string, context: LoopContext): readonly LoopPathEvent[] {
  switch (path) {
    case 'working.responding.requesting':
      return [{ type: 'stream.opened' }, ...failed(explored)]
    case 'working.responding.streaming':
      return [
        ...explored.responses.map((response) => respondDone({ ok: true, response: response(context) })),
        ...failed(explored),
      ]
    case 'working.backingOff':
      return [timerDone('backoff')]
    case 'working.executing.running':
      return [...runningSlots(context).flatMap(toolCases), ...context.calls.flatMap(decisions)]
    case 'working.executing.awaitingApproval':
    case 'working.executing.reconciling':
      return context.calls.flatMap(decisions)
    case 'working.compacting':
      return [
        compactDone({ ...COMPACTED, items: [{ type: 'compaction', id: `cmp_${context.turn}` }] }),
        compactDone({ ok: false, message: 'too short already', usage: null }),
        compactDone({ ok: false, message: 'nothing came of it', usage: allThatIsLeft(context) }),
      ]
    case 'stopping':
      return drainCases(context)
    default:
      return []
  }
}

function allThatIsLeft({ settings }: LoopContext): TokenUsage {
  return { ...USAGE, total_tokens: settings.limits.tokens ?? USAGE.total_tokens }
}

const COMPACTED = {
  ok: true,
  usage: USAGE,
  way: 'provider',
  detail: null,
  tokensBefore: 90,
  tokensAfter: 9,
} as const

function failed({ failures }: Explored): readonly LoopPathEvent[] {
  return failures.map((error, index) => respondDone({ ok: false, error, usage: index === 0 ? USAGE : null }))
}

function toolCases(slot: number): readonly LoopPathEvent[] {
  return [toolDone(slot, toolOutput('ok')), toolDone(slot, toolOutput('error'))]
}

function decisions({ status, callId }: LoopCall): readonly LoopPathEvent[] {
  if (status === 'undecided') {
    return [
      { type: 'call.approve', callId },
      { type: 'call.deny', callId, reason: 'not today' },
    ]
  }
  if (status !== 'inDoubt') return []
  return [
    { type: 'call.reconcile', callId, as: 'rerun' },
    { type: 'call.reconcile', callId, as: 'done', output: 'it had worked' },
    { type: 'call.reconcile', callId, as: 'failed', output: 'it had not' },
  ]
}

/** Answers for the rest of the run, and one about other arguments than those of the call. */
function lastingAnswers({ status, callId, facts }: LoopCall): readonly LoopPathEvent[] {
  if (status !== 'undecided') return []
  const { argumentsHash } = facts
  return [
    { type: 'call.approve', callId, argumentsHash, remember: 'call' },
    { type: 'call.deny', callId, reason: 'never', remember: 'tool' },
    { type: 'call.approve', callId, argumentsHash: 'of something else' },
  ]
}

function isCall(id: string): boolean {
  return id.startsWith('tool.')
}

function drainCases(context: LoopContext): readonly LoopPathEvent[] {
  const [slot] = runningSlots(context)
  if (slot === undefined) return [drainDone([])]
  const { outcome, output, detail, usage } = toolOutput('ok')
  const answer = { outcome, output, detail }
  return [drainDone([]), drainDone([{ slot, answer, usage }])]
}

function liveEffects(path: string, context: LoopContext): readonly string[] {
  if (path.startsWith('working.responding')) return ['respond', 'deadline']
  if (path === 'working.backingOff') return ['backoff']
  if (path === 'working.compacting') return ['compact']
  if (path === 'working.executing.running') return runningSlots(context).map(toolId)
  return path === 'stopping' ? ['drain'] : []
}

// Timers are armed again after a crash. Effects are in doubt once here, which is enough to see what comes of it.
function canBeInDoubt(id: string, { calls, attempt }: LoopContext): boolean {
  if (id === 'respond') return attempt === 0
  const call = calls.find(({ slot }) => toolId(slot) === id)
  return id === 'compact' || id === 'drain' || call?.attempt === 0
}
