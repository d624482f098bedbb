import type { LoopPathEvent } from '../chart/loop-events.ts'
import { compactDone, respondDone, timerDone, toolDone } from '../chart/loop-events.ts'
import { loopFold } from '../chart/loop-fold.ts'
import type { LoopPath } from '../chart/loop-paths.ts'
import { failure, toolOutput, type ResponseCase } from '../chart/response-cases.ts'
import { loopInput } from '../loop/loop-input.ts'
import type { PathPlan } from './agent-scenarios.ts'
import { calls, cutShort, speaks } from './response-for.ts'

// Further than any test wants to wait for.
export const TURNS_MAX = 200

/** Long runs that reach what only a long run does. One path each: all ways there would be far too many. */
export function agentWalks(plan: PathPlan): readonly LoopPath[] {
  const { agent, strange } = plan
  const { limits, mode, onIncomplete } = agent.settings
  const says = speaks(plan.answer)
  const again = calls([strange])
  // Many in one response: the limit of turns is not to come first.
  const { noProgress, callsPerResponse } = limits
  const circling = calls(Array.from({ length: Math.min(noProgress, callsPerResponse) }, () => strange))
  const walks: LoopPath[] = []
  if (limits.turns <= TURNS_MAX) {
    walks.push(walk(plan, 'the limit of turns', { respond: () => says, steersUntil: Infinity }))
    if (onIncomplete === 'continue') {
      walks.push(walk(plan, 'responses cut short until the limit', { respond: () => cutShort(says) }))
    }
  }
  if (noProgress <= TURNS_MAX) walks.push(walk(plan, 'the limit of no_progress', { respond: () => circling }))
  if (mode === 'previous_response_id') {
    const respond = (turn: number): ResponseCase => (turn === 1 && limits.toolCalls > 0 ? again : says)
    walks.push(walk(plan, 'a provider that forgets', { respond, steersUntil: 1, forgetsAt: 2 }))
  }
  return walks
}

interface Way {
  readonly respond: (turn: number) => ResponseCase
  /** Somebody speaks in every turn up to this one. */
  readonly steersUntil?: number
  readonly forgetsAt?: number
}

const FORGOTTEN = failure('previous_response_not_found', { isContinuity: true, isLost: true })

function walk({ agent, input }: PathPlan, scenario: string, way: Way): LoopPath {
  const started = loopInput(agent, input)
  const fold = loopFold()
  const events: LoopPathEvent[] = []
  let { snapshot } = fold.first(started)
  while (snapshot.status === 'active') {
    const event = nextOf(way, snapshot)
    if (event === null) break
    events.push(event)
    snapshot = fold.next(snapshot, event).snapshot
  }
  return { scenario, input: started, events }
}

type Snapshot = Parameters<ReturnType<typeof loopFold>['next']>[0]

function nextOf(way: Way, { state, context }: Snapshot): LoopPathEvent | null {
  switch (state) {
    case 'working.responding.requesting': {
      const { turn, route, steers, kind, responseId } = context
      if (turn <= (way.steersUntil ?? 0) && steers.length === 0 && kind !== 'wrap_up')
        return { type: 'run.steer', text: 'and then?' }
      // Once: where a new chain is begun, there is nothing left to forget.
      if (turn === way.forgetsAt && route.mode === 'previous_response_id' && responseId !== null)
        return respondDone({ ok: false, error: FORGOTTEN, usage: null })
      return { type: 'stream.opened' }
    }
    case 'working.responding.streaming':
      return respondDone({ ok: true, response: way.respond(context.turn)(context) })
    case 'working.backingOff':
      return timerDone('backoff')
    // The walk is about something else, and that may hang on the conversation as it is.
    case 'working.compacting':
      return compactDone({ ok: false, message: 'not on this walk', usage: null })
    case 'working.executing.running': {
      const running = context.calls.find(({ status }) => status === 'running')
      return running === undefined ? null : toolDone(running.slot, toolOutput('ok'))
    }
    default:
      return null
  }
}
