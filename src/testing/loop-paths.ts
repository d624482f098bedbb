import type { LoopPathEvent } from '../chart/loop-events.ts'
import { loopPaths as scenarioPaths, type LoopPath } from '../chart/loop-paths.ts'
import type { Agent } from '../loop/agent.ts'
import type { RunInput } from '../loop/run-input.ts'
import { agentScenarios, type AgentScenario, type PathPlan } from './agent-scenarios.ts'
import { agentWalks } from './agent-walks.ts'
import { sampleAnswer } from './sample-answer.ts'
import { sampleCalls, strangeCall, type Samples } from './sample-calls.ts'

export interface PathOptions {
  /** Arguments for the tools; made up from their schemas when left out. */
  readonly samples?: Samples
  /** What the model says when it is done; made up for an agent that asks for a format. */
  readonly answer?: string
  /** What runs are started with. */
  readonly input?: RunInput
}

/**
 * Every path of the chart that is walked for an agent: what its model answers, how its requests fail, what people say
 * and when, where the process dies. The calls in it are calls of the agent's own tools. Throws `usage` when there are
 * no arguments that a tool takes.
 */
export async function loopPaths(agent: Agent, options: PathOptions = {}): Promise<readonly LoopPath[]> {
  return pathsOf(await pathPlan(agent, options))
}

/** The paths of a plan: all of each scenario, and one for each long run. */
export function pathsOf(plan: PathPlan): readonly LoopPath[] {
  const paths = agentScenarios(plan).flatMap(wantedPaths)
  return [...paths, ...agentWalks(plan)]
}

/** Reads the options and asks the agent about its tools. */
export async function pathPlan(
  agent: Agent,
  { samples, answer = sampleAnswer(agent), input = 'hello' }: PathOptions,
): Promise<PathPlan> {
  return {
    agent,
    input,
    answer,
    samples: await sampleCalls(agent, samples),
    strange: await strangeCall(agent),
  }
}

/**
 * What a real tool answers is its own business, so paths that differ only in that are one path: those in which a
 * made-up call failed end before it, and what is then the beginning of another goes.
 */
function wantedPaths(scenario: AgentScenario): readonly LoopPath[] {
  const cut = scenarioPaths(scenario).map((path) => {
    let failures = 0
    const at = path.events.findIndex((event) => {
      if (isFailure(event)) failures += 1
      return failures > scenario.failuresMax || isMadeUp(event) || isNoTimer(path, event)
    })
    return at === -1 ? path : { ...path, events: path.events.slice(0, at) }
  })
  const keys = cut.map(({ events }) => events.map((event) => JSON.stringify(event)))
  const beginnings = new Set<string>()
  for (const events of keys) {
    let key = ''
    for (const event of events) {
      beginnings.add(key)
      key += `${event}\n`
    }
  }
  const seen = new Set<string>()
  return cut.filter((_, at) => {
    const key = (keys[at] ?? []).map((event) => `${event}\n`).join('')
    return !beginnings.has(key) && !seen.has(key) && seen.add(key)
  })
}

function isMadeUp(event: LoopPathEvent): boolean {
  const output = 'output' in event ? event.output : null
  return typeof output === 'object' && output !== null && 'outcome' in output && output.outcome === 'error'
}

function isFailure(event: LoopPathEvent): boolean {
  const output = 'output' in event ? event.output : null
  return typeof output === 'object' && output !== null && 'ok' in output && !output.ok
}

// Without a limit of time there is no timer that could fail.
function isNoTimer({ input }: LoopPath, { type }: LoopPathEvent): boolean {
  return input.deadlineAt === null && type === 'xstate.error.actor.deadline'
}

/** How a path is named where one fails. */
export function pathName({ scenario, events }: LoopPath): string {
  return `${scenario}: ${events.map(shortName).join(' > ')}`
}

function shortName(event: LoopPathEvent): string {
  const name = event.type.replace('xstate.done.actor.', '').replace('xstate.error.actor.', 'rejected ')
  if ('callId' in event) return `${name} ${event.callId}`
  if (event.type === 'effect.inDoubt') return `crash in ${event.id}`
  return isFailure(event) ? `${name} failed` : name
}
