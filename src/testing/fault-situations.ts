import type { ScriptItem, ScriptTurn } from '../provider/scripted/script.ts'
import type { PathPlan } from './agent-scenarios.ts'
import type { SampleCall } from './sample-calls.ts'
import { modelError } from './script-turns.ts'

/** How a run comes to the request that a fault strikes. */
export interface Situation {
  readonly name: string
  /** What the model answers before. */
  readonly before: readonly ScriptTurn[]
  /** What it would answer, were there no fault. */
  readonly struck: ScriptTurn
  /** What it answers from then on. */
  readonly after: ScriptTurn
  readonly decision: 'approve' | 'deny'
  /** Somebody speaks during the first request. */
  readonly steers: boolean
  /** Somebody cancels while the run waits to try again. */
  readonly cancelsRetry: boolean
}

/** The situations that an agent's settings and samples allow. */
export function faultSituations({ agent, samples, strange, answer }: PathPlan): readonly Situation[] {
  const after: ScriptTurn = { output: [{ type: 'message', text: answer }] }
  const free = samples.find(({ facts }) => facts.approval === null) ?? strange
  const guarded = samples.find(({ facts }) => facts.approval !== null)
  const situation = (name: string, change: Partial<Situation>): Situation => ({
    name,
    before: [],
    struck: { output: [{ type: 'message', text: 'One moment.' }, ...samples.map(callOf)] },
    after,
    decision: 'approve',
    steers: false,
    cancelsRetry: false,
    ...change,
  })
  const situations = [
    situation('the first request', {}),
    situation('the first request, while somebody speaks', { steers: true }),
    situation('the first request, cancelled before it is tried again', { cancelsRetry: true }),
    situation(`the answer to ${free.name}`, { before: [call(free)] }),
  ]
  if (guarded !== undefined) {
    situations.push(
      situation(`the answer to ${guarded.name}, approved`, { before: [call(guarded)] }),
      situation(`the answer to ${guarded.name}, denied`, { before: [call(guarded)], decision: 'deny' }),
    )
  }
  const { retriesMax, onLimit, limits, compactAtTokens } = agent.settings
  if (retriesMax > 0) situations.push(situation('the second attempt', { before: [modelError(503)] }))
  if (onLimit === 'wrap_up' && limits.tokens !== null) {
    situations.push(situation('the last word', { before: [using(call(free), limits.tokens)] }))
  }
  if (compactAtTokens !== null && agent.compaction !== null) {
    situations.push(
      situation('the request after a compaction', { before: [using(call(free), compactAtTokens)] }),
    )
  }
  return situations
}

function call(sample: SampleCall): ScriptTurn {
  return { output: [callOf(sample)] }
}

function callOf({ name, arguments: args }: SampleCall): ScriptItem {
  return { type: 'function_call', name, arguments: args }
}

function using(turn: ScriptTurn, tokens: number): ScriptTurn {
  return { ...turn, usage: { input_tokens: tokens, output_tokens: 0 } }
}
