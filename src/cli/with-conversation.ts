import { conversation } from '../conversation/conversation.ts'
import type { Conversation } from '../conversation/conversation-api.ts'
import { openStore } from '../journal/open-store.ts'
import type { RunStore } from '../journal/run-store.ts'
import { conversationOptions } from './conversation-options.ts'
import { findConversation } from './find-conversation.ts'
import { followConversation } from './follow-conversation.ts'
import type { RunFlags } from './run-flags.ts'
import type { Settings } from './settings.ts'
import { knownStorePath } from './store-option.ts'
import { withAgent, type EquippedAgent } from './with-agent.ts'
import { withModel } from './with-model.ts'

/** A conversation that this process has open. */
export interface OpenedConversation {
  readonly talk: Conversation
  readonly isNew: boolean
  readonly store: RunStore
  readonly equipped: EquippedAgent
}

/** Opens a conversation, or begins it, for as long as it is used. */
export async function withConversation<Result>(
  id: string,
  flags: RunFlags,
  settings: Settings,
  use: (opened: OpenedConversation) => Promise<Result>,
): Promise<Result> {
  const store = openStore(knownStorePath(flags, settings))
  try {
    const known = findConversation(store, id, flags)
    const options = conversationOptions(settings.config, id, store)
    return await withAgent(flags, withModel(settings, flags.model ?? known?.model), async (equipped) => {
      const talk = conversation(equipped.agent, options)
      if (flags.json !== true) followConversation(talk, known?.frames ?? 0, equipped.note)
      try {
        return await use({ talk, isNew: known === null, store, equipped })
      } finally {
        await talk.close()
      }
    })
  } finally {
    store.close()
  }
}
