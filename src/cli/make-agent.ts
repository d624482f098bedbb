import { agent, type AgentLimits, type AgentOptions } from '../agent.ts'
import { DEFAULT_LIMITS, type Agent } from '../loop/agent.ts'
import type { Model } from '../loop/model.ts'
import type { ChosenModel } from './choose-model.ts'
import type { ChosenTools } from './choose-tools.ts'
import type { Config } from './config-file.ts'

type Limits = NonNullable<Config['limits']>
type Compaction = NonNullable<AgentOptions['compaction']>

/** The agent that settings, a model and tools come to. */
export function makeAgent({ model }: ChosenModel, config: Config, chosen: ChosenTools): Agent {
  const { retries, reasoning_effort: effort, reasoning_summary: summary } = config
  const {
    max_output_tokens: maxOutputTokens,
    verbosity,
    store_responses: store,
    encrypted_reasoning: encryptedReasoning,
  } = config
  const { tools, policy, isUntrusted, workspace } = chosen
  return agent({
    model,
    tools,
    limits: limitsOf(lowerLimits(config.limits ?? {}, workspace.limits ?? {})),
    ...named('instructions', workspace.instructions),
    ...(policy.length === 0 ? {} : { policy }),
    ...(isUntrusted ? { trust: 'untrusted' } : {}),
    ...named('continuity', config.continuity),
    ...named('compaction', compactionOf(model, config)),
    ...(retries === undefined ? {} : { retry: { times: retries } }),
    request: {
      maxOutputTokens,
      verbosity,
      store,
      encryptedReasoning,
      ...(effort === undefined && summary === undefined ? {} : { reasoning: { effort, summary } }),
    },
  })
}

/** A run that grows too long for the model is made shorter, where it is known how much the model takes. */
function compactionOf(
  { contextWindow, compact }: Model,
  { compact_way: way }: Config,
): Compaction | undefined {
  if (contextWindow == null) return undefined
  return { atShare: 0.8, way: way === 'provider' && compact == null ? 'rules' : (way ?? 'rules') }
}

/** The limits of the command line over those of the agent. */
export function withLimits(loaded: Agent, limits: Limits = {}): Agent {
  const { ms, ...rest } = limitsOf(limits)
  return {
    ...loaded,
    wallTimeMs: ms ?? loaded.wallTimeMs,
    settings: { ...loaded.settings, limits: { ...loaded.settings.limits, ...rest } },
  }
}

/** What a workspace says counts where it is lower than what is in force, also by default. */
function lowerLimits(inForce: Limits, own: Limits): Limits {
  const { turns = DEFAULT_LIMITS.turns, tool_calls: toolCalls = DEFAULT_LIMITS.toolCalls } = inForce
  return {
    ...inForce,
    ...named('turns', lower(inForce.turns, own.turns, turns)),
    ...named('tool_calls', lower(inForce.tool_calls, own.tool_calls, toolCalls)),
    ...named('tokens', lower(inForce.tokens, own.tokens, inForce.tokens)),
    ...named('ms', lower(inForce.ms, own.ms, inForce.ms)),
  }
}

function lower(
  set: number | undefined,
  own: number | undefined,
  effective: number | undefined,
): number | undefined {
  return own === undefined || (effective !== undefined && effective <= own) ? set : own
}

function limitsOf(limits: Limits): AgentLimits {
  return {
    ...named('turns', limits.turns),
    ...named('toolCalls', limits.tool_calls),
    ...named('tokens', limits.tokens),
    ...named('ms', limits.ms),
  }
}

/** The field, unless nothing is known of it. */
function named<Name extends string, Value>(
  name: Name,
  value: Value | undefined,
): { readonly [Key in Name]?: Value } {
  const holder: { [Key in Name]?: Value } = {}
  if (value !== undefined) holder[name] = value
  return holder
}
