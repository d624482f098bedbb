import { chooseStrategy, type StrategyChoice } from '../history/tool-history/choose-strategy.ts'
import type { Agent } from '../loop/agent.ts'
import type { ConversationMemory } from './conversation-memory.ts'
import type { ConversationSettings } from './conversation-settings.ts'

/** How a conversation tells earlier work with tools now. */
export function chooseToolStrategy(
  { models }: Agent,
  { toolStrategy }: ConversationSettings,
  { hasFallenBack }: ConversationMemory,
): StrategyChoice {
  return chooseStrategy({
    setting: toolStrategy,
    capabilities: { nativeToolHistory: models[0]?.nativeToolHistory === true },
    hasFallenBack,
  })
}
