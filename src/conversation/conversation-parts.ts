import type { RunStore } from '../journal/run-store.ts'
import type { Agent } from '../loop/agent.ts'
import type { ContextSize } from './context-size.ts'
import type { ConversationLog } from './conversation-log.ts'
import type { ConversationSettings } from './conversation-settings.ts'

/** What a conversation works with. */
export interface ConversationParts {
  readonly id: string
  readonly agent: Agent
  readonly settings: ConversationSettings
  readonly store: RunStore | null
  readonly log: ConversationLog
  readonly size: ContextSize
}
