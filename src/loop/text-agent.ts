import { fingerprintOf, type Agent } from './agent.ts'
import { requestBuilder } from './build-request.ts'
import type { Model } from './model.ts'
import type { RequestOptions } from './request-options.ts'
import type { ToolPort } from './tool-port.ts'

export interface TextAgentOptions {
  readonly instructions: string
  /** Asked instead of the models of the agent. */
  readonly model?: Model
}

/**
 * An agent that answers once, in text: with the models, the retries and the request options of another, without its
 * tools, its format, its compaction and its memory of a conversation.
 */
export function textAgent(agent: Agent, { instructions, model }: TextAgentOptions): Agent {
  const models = model === undefined ? agent.models : [model]
  const plans = models.map(({ name, isStreamed, unsupported }, at) => ({
    model: name,
    instructions,
    definitions: [],
    requestOptions: plainOptions(agent, model === undefined ? at : 0),
    stream: isStreamed,
    unsupported: unsupported ?? [],
  }))
  const { limits } = agent.settings
  return {
    ...agent,
    models,
    tools: NO_TOOLS,
    description: { fingerprint: fingerprintOf({ plans, encodings: {} }), plans, encodings: {} },
    buildRequest: requestBuilder(plans.map((plan) => ({ ...plan, answerText: noAnswer }))),
    checkOutput: null,
    compaction: null,
    // One turn has nothing to continue from. Whether the response is kept is up to the request options.
    continuity: 'stateless',
    settings: {
      ...agent.settings,
      limits: { ...limits, turns: 1, toolCalls: 0 },
      onLimit: 'stop',
      onIncomplete: 'stop',
      mode: 'stateless',
      fallbackModes: models.slice(1).map(() => 'stateless'),
      maySwitchMode: false,
      repairsMax: 0,
      compactAtTokens: null,
      compactAtItems: null,
    },
  }
}

/** The options of a model of the agent without those that are about tools, about a format or about what is cached. */
function plainOptions({ description }: Agent, at: number): RequestOptions {
  const plan = description.plans[at]
  if (plan === undefined) throw new Error(`there is no model ${at}`)
  const { requestOptions } = plan
  const verbosity = requestOptions.text?.verbosity
  return {
    ...requestOptions,
    toolChoice: 'auto',
    stickyToolChoice: false,
    text: verbosity === undefined ? null : { verbosity },
    promptCacheKey: null,
    warnings: [],
  }
}

const NO_TOOLS: ToolPort = {
  definitions: [],
  claim: () => null,
  appraise: (call) =>
    Promise.resolve({
      tool: null,
      refusal: { outcome: 'unknown_tool', message: `there is no tool ${call.name}` },
      approval: null,
      readOnly: true,
      idempotent: true,
      conflicts: [],
      timeoutMs: 1000,
      maxCalls: null,
      argumentsHash: '',
    }),
  run: () => Promise.reject(new Error('an agent without tools ran one')),
  answerText: noAnswer,
}

// A conversation of one turn has no call that is answered.
function noAnswer(): string {
  return ''
}
