import { LoopchartError } from '../errors.ts'
import type { Agent, AgentDescription } from '../loop/agent.ts'
import { buildRequest } from '../loop/build-request.ts'
import type { AnswerText } from '../loop/call-items.ts'
import type { Model } from '../loop/model.ts'
import { isJsonObject, type JsonObject } from '../protocol/json.ts'
import type { ValidationProfile } from '../protocol/validation-profile.ts'
import type { StreamLimits } from '../stream/stream-limits.ts'

/** What the model is told about calls that did not run, by how the output of each tool is written. */
export type AnswerTextFor = (encodings: AgentDescription['encodings']) => AnswerText

export interface RecordedAgentOptions {
  readonly answerTextFor: AnswerTextFor
  readonly profile: ValidationProfile | null
  readonly streamLimits: Partial<StreamLimits>
  /** Where requests to a model went, by its name. */
  readonly endpoints: ReadonlyMap<string, string>
  readonly settings: Agent['settings']
}

/** An agent as its log knows it: it makes the requests again that it made, and nothing of it runs. */
export function recordedAgent(description: AgentDescription, options: RecordedAgentOptions): Agent {
  const { answerTextFor, endpoints, settings, profile, streamLimits } = options
  const answerText = answerTextFor(description.encodings)
  const plans = description.plans.map((plan) => ({ ...plan, answerText }))
  return {
    models: plans.map(({ model: name, stream }) => silentModel(name, stream, endpoints.get(name) ?? '')),
    fallbackOn: new Set(),
    tools: { definitions: [], claim: () => null, appraise: nothingRuns, run: nothingRuns, answerText },
    clock: { now: () => 0, setTimer: nothingRuns },
    random: () => 0,
    retry: { times: 0, waitMs: 0, waitMaxMs: 0, suspendAfterMs: 0 },
    profile,
    streamLimits,
    settings,
    continuity: settings.mode,
    wallTimeMs: null,
    description,
    buildRequest: (input) => {
      const plan = plans[input.model]
      if (plan === undefined) throw new LoopchartError('log_corrupt', `the log has no model ${input.model}`)
      return buildRequest(plan, input)
    },
    checkOutput: null,
    compaction: null,
  }
}

/** Reads what a log says of its agent; null when it does not say from what requests were made. */
export function readDescription(agent: unknown): AgentDescription | null {
  return isDescription(agent) ? agent : null
}

// Written by agent() and by nobody else; that it was not changed since is what its fingerprint is for.
function isDescription(agent: unknown): agent is AgentDescription & JsonObject {
  if (!isJsonObject(agent) || !Array.isArray(agent['plans']) || !isJsonObject(agent['encodings']))
    return false
  return agent['plans'].length > 0 && agent['plans'].every(isPlan)
}

function isPlan(plan: unknown): boolean {
  return (
    isJsonObject(plan) &&
    typeof plan['model'] === 'string' &&
    typeof plan['stream'] === 'boolean' &&
    Array.isArray(plan['definitions']) &&
    Array.isArray(plan['unsupported']) &&
    isJsonObject(plan['requestOptions'])
  )
}

function silentModel(name: string, isStreamed: boolean, endpoint: string): Model {
  return { name, endpoint, isStreamed, canContinueById: null, send: nothingRuns }
}

function nothingRuns(): never {
  throw new Error('nothing runs in a replay')
}
