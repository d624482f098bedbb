import type { Agent } from '../loop/agent.ts'
import { withinBudget } from '../loop/children.ts'
import type { ConversationParts } from './conversation-parts.ts'

/** An agent with what is left to the conversation as its limit of tokens. */
export function agentWithin({ settings, log }: ConversationParts, agent: Agent): Agent {
  if (settings.tokensMax === null) return agent
  const tokens = Math.max(1, settings.tokensMax - log.memory.usage.total_tokens)
  return withinBudget(agent, { toolCalls: agent.settings.limits.toolCalls, tokens, deadlineAt: null })
}
