import type { LoopScenario } from '../chart/loop-cases.ts'
import { failure, type ResponseCase } from '../chart/response-cases.ts'
import type { Agent } from '../loop/agent.ts'
import { loopInput } from '../loop/loop-input.ts'
import type { RunInput } from '../loop/run-input.ts'
import { calls, cutShort, ofWrongFormat, speaks, using } from './response-for.ts'
import type { SampleCall } from './sample-calls.ts'

/** What the paths of an agent are made of. */
export interface PathPlan {
  readonly agent: Agent
  readonly input: RunInput
  /** What the model says when it has nothing left to do. */
  readonly answer: string
  readonly samples: readonly SampleCall[]
  /** A call of a tool that does not exist. */
  readonly strange: SampleCall
}

// Codes that no agent has on its list of those after which another model is asked.
const RETRYABLE = failure('made_up_and_retryable', { retryAt: 1 })
const FATAL = failure('made_up_and_final')

/** A scenario of which not every path is wanted. */
export interface AgentScenario extends LoopScenario {
  /** Paths go on until so many requests have failed: all mixtures of failures and what else happens are too many. */
  readonly failuresMax: number
}

// As many calls as one response of a test has at most; a limit beyond is too far away.
export const CALLS_MAX = 256

/** Runs of an agent which together go every way that its own settings leave open, but for those of long runs. */
export function agentScenarios(plan: PathPlan): readonly AgentScenario[] {
  const { agent, samples, strange } = plan
  const { settings } = agent
  const says = speaks(plan.answer)
  const single = [...samples, strange].map((sample) => calls([sample]))
  const deadline = deadlineOf(agent)
  const scenario = (name: string, change: Partial<AgentScenario>): AgentScenario => ({
    name,
    input: loopInput(agent, plan.input),
    responses: [says],
    turnsExplored: 1,
    failures: [],
    cutIns: [],
    failuresMax: Number.POSITIVE_INFINITY,
    ...change,
  })
  const scenarios = [
    scenario('requests that fail', { failures: [RETRYABLE, FATAL, ...fallbacks(agent)] }),
    scenario('requests', {
      failures: [RETRYABLE, FATAL],
      failuresMax: 1,
      cutIns: ['cancel', 'steer', ...deadline, 'bug', 'crash'],
    }),
    scenario('follow-ups that fail', {
      responses: [calls([samples[0] ?? strange])],
      failures: [RETRYABLE, FATAL],
      turnsExplored: 2,
    }),
    scenario('one call at a time', {
      responses: single,
      cutIns: ['cancel', 'steer', ...deadline, 'bug', 'crash', 'stranger'],
    }),
    ...pairsOf(samples).map((pair) =>
      scenario(pair.map(({ name }) => name).join(' and '), {
        responses: [calls(pair)],
        cutIns: ['cancel', 'crash'],
      }),
    ),
    scenario('responses that were cut short', {
      responses: [cutShort(says), ...single.slice(0, 2).map(cutShort)],
      cutIns: settings.onIncomplete === 'continue' ? ['steer'] : [],
    }),
  ]
  return [...scenarios, ...optionalScenarios(plan, scenario), ...limitScenarios(plan, scenario)]
}

type MakeScenario = (name: string, change: Partial<AgentScenario>) => AgentScenario

/** What only some agents have: a format, a compaction. */
function optionalScenarios(plan: PathPlan, scenario: MakeScenario): readonly AgentScenario[] {
  const { agent, samples, strange } = plan
  const { repairsMax } = agent.settings
  const scenarios: AgentScenario[] = []
  if (agent.checkOutput !== null) {
    scenarios.push(
      scenario('answers of the wrong format', {
        responses: [ofWrongFormat(speaks('this is no JSON')), speaks(plan.answer)],
        turnsExplored: repairsMax + 1,
      }),
    )
  }
  const long = agent.compaction === null ? null : longConversation(plan, calls([samples[0] ?? strange]))
  if (long !== null) {
    scenarios.push(
      scenario('a conversation that is made shorter', {
        ...long,
        cutIns: ['cancel', ...deadlineOf(agent), 'bug', 'crash'],
        turnsExplored: 2,
      }),
    )
  }
  return scenarios
}

// More than any test wants to begin with.
export const ITEMS_MAX = 1000

/** A conversation that is too long after one response; null: none is. */
function longConversation({ agent, input }: PathPlan, response: ResponseCase): Partial<AgentScenario> | null {
  const { compactAtTokens, compactAtItems } = agent.settings
  if (compactAtTokens !== null) return { responses: [using(response, compactAtTokens)] }
  if (compactAtItems === null || compactAtItems > ITEMS_MAX) return null
  const started = loopInput(agent, input)
  const before = Array.from({ length: compactAtItems }, () => SAID)
  const longer = { ...started, items: [...before, ...started.items] }
  return { responses: [response], input: longer }
}

const SAID = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'and so on' }] }

function limitScenarios(plan: PathPlan, scenario: MakeScenario): readonly AgentScenario[] {
  const { agent } = plan
  return limitResponses(plan).map(([limit, response], at) => {
    // What comes after a limit is the same for each.
    const isFollowed = agent.settings.onLimit === 'wrap_up' && at === 0
    return scenario(`the limit of ${limit}`, {
      responses: [response],
      failures: isFollowed ? [RETRYABLE, FATAL] : [],
      failuresMax: 1,
      cutIns: isFollowed ? ['cancel', ...deadlineOf(agent), 'crash'] : [],
    })
  })
}

function deadlineOf({ wallTimeMs }: Agent): LoopScenario['cutIns'] {
  return wallTimeMs === null ? [] : ['deadline']
}

function fallbacks({ settings, fallbackOn }: Agent): LoopScenario['failures'] {
  const [code] = fallbackOn
  return settings.fallbackModes.length === 0 || code === undefined
    ? []
    : [failure(code, { isFallback: true })]
}

/** Every two samples that differ in what the loop has to do about them. */
function pairsOf(samples: readonly SampleCall[]): readonly (readonly SampleCall[])[] {
  const kinds = new Map(
    samples.map((sample) => {
      const { approval, readOnly, idempotent } = sample.facts
      return [`${approval !== null} ${readOnly} ${idempotent}`, sample] as const
    }),
  )
  const different = [...kinds.values()].slice(0, 3)
  return different.flatMap((first) => different.map((second) => [first, second]))
}

/** Responses that are over a limit at once. */
function limitResponses({ agent, samples, strange }: PathPlan): readonly (readonly [string, ResponseCase])[] {
  const { tokens, toolCalls, callsPerResponse } = agent.settings.limits
  const found: (readonly [string, ResponseCase])[] = []
  if (tokens !== null) found.push(['tokens', using(calls([samples[0] ?? strange]), tokens)])
  const wanted = toolCalls + 1
  if (wanted <= callsPerResponse && wanted <= CALLS_MAX) {
    // A call without a tool counts, and no limit of a tool's own stops it first.
    found.push(['tool_calls', calls(Array.from({ length: wanted }, () => strange))])
  }
  return found
}
