import { LoopchartError } from '../errors.ts'
import type { Frame } from '../frames/generated/frame.ts'
import type { OpenRun } from './conversation-memory.ts'
import type { ConversationParts } from './conversation-parts.ts'

/**
 * The log of a run that a conversation has begun; null when the store has none of it. With `take`, throws `run_locked`
 * when somebody drives it.
 */
export function readOpenRun(
  parts: ConversationParts,
  run: OpenRun,
  how: 'read' | 'take',
): readonly Frame[] | null {
  try {
    const frames = how === 'read' ? [...(parts.store?.read(run.runId) ?? [])] : takeFrames(parts, run)
    return isOfRun(frames, parts.id, run) ? frames : null
  } catch (error) {
    if (error instanceof LoopchartError && error.code === 'run_unknown') return null
    // What cannot be read can be left all the same.
    if (how === 'take' && error instanceof LoopchartError && error.code === 'log_corrupt') return null
    throw error
  }
}

function takeFrames({ store, agent }: ConversationParts, { runId }: OpenRun): readonly Frame[] {
  const taken = store?.take(runId, agent.clock)
  void taken?.journal.close()
  return taken?.frames ?? []
}

/** A store may have a run of that name that is something else's. */
function isOfRun([first]: readonly Frame[], id: string, { messageSeq }: OpenRun): boolean {
  if (first?.type !== 'run_started') return false
  return first.conversation?.conversation_id === id && first.conversation.message_seq === messageSeq
}
