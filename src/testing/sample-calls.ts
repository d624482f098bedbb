import { LoopchartError } from '../errors.ts'
import type { Agent } from '../loop/agent.ts'
import { isJsonObject, type JsonObject } from '../protocol/json.ts'
import { sampleArguments } from './sample-arguments.ts'

/** Arguments for the tools of an agent, by name. Several sets for one tool make several calls. */
export type Samples = Readonly<Record<string, JsonObject | readonly JsonObject[]>>

/** A call that the model of a test makes, and what the agent thinks of it. */
export interface SampleCall {
  readonly name: string
  /** The argument text. */
  readonly arguments: string
  readonly facts: Awaited<ReturnType<Agent['tools']['appraise']>>
}

/**
 * A call for each tool, or for each set of arguments that is given for it. Throws `usage` when a name is no tool's, or
 * a tool does not take its arguments: nothing would be tested by a call that never runs.
 */
export async function sampleCalls(agent: Agent, samples: Samples = {}): Promise<readonly SampleCall[]> {
  const { definitions } = agent.tools
  const names = definitions.map(({ name }) => (typeof name === 'string' ? name : ''))
  const stray = Object.keys(samples).find((name) => !names.includes(name))
  if (stray !== undefined) throw new LoopchartError('usage', `samples.${stray}: there is no such tool`)
  const calls: SampleCall[] = []
  for (const [at, definition] of definitions.entries()) {
    const name = names[at] ?? ''
    const given = samples[name]
    const { parameters } = definition
    const sets =
      given === undefined ? [sampleArguments(isJsonObject(parameters) ? parameters : {})] : [given].flat()
    for (const args of sets) {
      const call = await appraised(agent, name, JSON.stringify(args))
      const { refusal } = call.facts
      if (refusal?.outcome === 'bad_arguments') {
        throw new LoopchartError(
          'usage',
          `tool ${name} does not take ${call.arguments}: ${refusal.message}; give others in samples.${name}`,
        )
      }
      calls.push(call)
    }
  }
  return calls
}

/** A call that no agent has a tool for. */
export function strangeCall(agent: Agent): Promise<SampleCall> {
  return appraised(agent, 'no_such_tool', '{}')
}

async function appraised(agent: Agent, name: string, args: string): Promise<SampleCall> {
  const facts = await agent.tools.appraise({ callId: 'call_sample', name, arguments: args }, true)
  return { name, arguments: args, facts }
}
