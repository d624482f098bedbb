import type { Agent } from '../loop/agent.ts'

/** Limits that a request asks for. */
export interface AskedLimits {
  readonly turns?: number | undefined
  readonly tool_calls?: number | undefined
  readonly tokens?: number | undefined
  /** Of wall time. */
  readonly ms?: number | undefined
}

/** The agent within the limits that were asked for: they can only be narrower than its own. */
export function narrowLimits(agent: Agent, asked: AskedLimits): Agent {
  const { limits } = agent.settings
  return {
    ...agent,
    wallTimeMs: narrower(agent.wallTimeMs, asked.ms),
    settings: {
      ...agent.settings,
      limits: {
        ...limits,
        turns: Math.min(limits.turns, asked.turns ?? limits.turns),
        toolCalls: Math.min(limits.toolCalls, asked.tool_calls ?? limits.toolCalls),
        tokens: narrower(limits.tokens, asked.tokens),
      },
    },
  }
}

function narrower(own: number | null, asked: number | undefined): number | null {
  if (asked === undefined) return own
  return own === null ? asked : Math.min(own, asked)
}
