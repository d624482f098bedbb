import type { OpenRun } from './conversation-memory.ts'
import type { ConversationParts } from './conversation-parts.ts'

/** The run that the conversation is at. */
export function ownRun({ log }: ConversationParts): OpenRun {
  const { openRun } = log.memory
  if (openRun === null) throw new Error('the conversation is at no run')
  return openRun
}
