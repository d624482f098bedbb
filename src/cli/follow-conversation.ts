import type { Conversation } from '../conversation/conversation-api.ts'
import type { Frame } from '../frames/generated/frame.ts'
import { describeCompaction } from './describe-compaction.ts'
import type { Say } from './say-to.ts'

/** Tells of what happens to a conversation itself, from a frame of its log on, until it is closed. */
export function followConversation(talk: Conversation, from: number, note: Say): void {
  const follow = async (): Promise<void> => {
    for await (const frame of talk.frames(from)) {
      const told = describe(frame)
      if (told !== null) note(told)
    }
  }
  // That its log is broken is heard by whoever sends the next message.
  follow().catch(() => undefined)
}

function describe(frame: Frame): string | null {
  switch (frame.type) {
    case 'history_compacted':
      return describeCompaction(frame)
    case 'tool_history_switched':
      return 'the provider does not take earlier calls as they were: it is told of them in words'
    default:
      return null
  }
}
