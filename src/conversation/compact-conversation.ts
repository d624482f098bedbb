import { makeFrame } from '../frames/make-frame.ts'
import type { Checkpoint } from '../history/context-bundle/conversation-source.ts'
import { makeCheckpoint } from '../history/context-bundle/make-checkpoint.ts'
import { COMPACTION_REFUSED } from '../loop/compact.ts'
import type { JsonObject } from '../protocol/json.ts'
import { newestCheckpoint } from './context-size.ts'
import type { CompactionResult, CompactionWay } from './conversation-api.ts'
import { entryFrame } from './conversation-log.ts'
import type { ConversationParts } from './conversation-parts.ts'
import { clearedCursor } from './end-frames.ts'
import { planConversation, type ConversationPlan } from './plan-conversation.ts'
import { used } from './used.ts'
import { writeSummary, type WrittenSummary } from './write-summary.ts'

/** Why a conversation is compacted. */
export type CompactionCause = 'tokens' | 'messages' | 'asked'

/** Why it is time to compact; null: it is not. */
export function compactionDue({ settings, log, size }: ConversationParts): CompactionCause | null {
  const { isAutomatic, atTokens, atMessages } = settings.compaction
  if (!isAutomatic) return null
  if (size.total(log.memory) >= atTokens) return 'tokens'
  return messagesSince(log.memory) >= atMessages ? 'messages' : null
}

function messagesSince(memory: ConversationParts['log']['memory']): number {
  let messages = 0
  for (let seq = (newestCheckpoint(memory)?.toSeq ?? -1) + 1; seq < memory.length; seq += 1) {
    const entry = memory.entry(seq)
    if (entry.type === 'message' && entry.role === 'user') messages += 1
  }
  return messages
}

/**
 * Has a summary stand for the older turns of a conversation. Nothing is removed: the entries stay in the log, and a fork
 * from before the summary goes on as if it had never been.
 */
export async function compactConversation(
  parts: ConversationParts,
  cause: CompactionCause,
  way: CompactionWay,
  signal: AbortSignal,
): Promise<CompactionResult> {
  const { settings, log, size } = parts
  const { memory } = log
  // The next message is one of those that a run is told.
  const room = { keepTokens: settings.compaction.keepTokens, keepTurns: settings.recent - 1 }
  const plan = planConversation(memory, size, room)
  if (plan === null) return { status: 'refused', reason: 'there is no older turn to make shorter' }
  if (cause !== 'asked' && plan.toSeq === memory.refusedTo) {
    return { status: 'refused', reason: 'a summary of the same turns came to nothing before' }
  }
  const written = await writeSummary(parts, plan, way, signal)
  const { summary, checkpoint, tokensAfter } = fit(parts, plan, written)
  // What would fall out of the messages that a run is told is summarised however short it is.
  const isLonger = tokensAfter >= plan.tokensBefore && cause !== 'messages'
  if (signal.aborted || isLonger) {
    const reason = signal.aborted ? 'it was cancelled' : 'a summary would not be shorter'
    await log.record((stamp) => [
      makeFrame(stamp, 'warning', {
        cause: COMPACTION_REFUSED,
        figures: { reason, ...figuresOf(parts, plan, summary), asked_way: way },
      }),
    ])
    return { status: 'refused', reason }
  }
  const { tokensBefore } = plan
  await log.record((stamp) => [
    entryFrame(stamp, checkpoint.seq, checkpoint),
    makeFrame(stamp, 'history_compacted', {
      cause,
      figures: {
        ...figuresOf(parts, plan, summary),
        asked_way: way,
        entry_seq: checkpoint.seq,
        tokens_before: tokensBefore,
        tokens_after: tokensAfter,
      },
    }),
    // The provider's own memory is of the whole conversation.
    ...(memory.cursor === null ? [] : [clearedCursor(stamp, memory.cursor, 'compacted')]),
  ])
  const { detail } = summary
  return {
    status: 'compacted',
    way: summary.way,
    entrySeq: checkpoint.seq,
    tokensBefore,
    tokensAfter,
    detail,
  }
}

interface FittedSummary {
  readonly summary: WrittenSummary
  readonly checkpoint: Checkpoint
  readonly tokensAfter: number
}

/** What a provider made is taken only when it makes room: it may keep every word that the user said. */
function fit(parts: ConversationParts, plan: ConversationPlan, written: WrittenSummary): FittedSummary {
  const { settings, size } = parts
  const fitted = withSize(parts, plan, written)
  if (written.compacted === null) return fitted
  if (fitted.tokensAfter < Math.min(plan.tokensBefore, settings.compaction.atTokens)) return fitted
  const tokens = size.of(fitted.checkpoint)
  const detail = `what the provider made has ${tokens} tokens, which is not short enough`
  return withSize(parts, plan, { ...written, compacted: null, way: 'rules', detail })
}

function withSize(
  { log, size }: ConversationParts,
  plan: ConversationPlan,
  summary: WrittenSummary,
): FittedSummary {
  const checkpoint = makeCheckpoint({
    seq: log.memory.length,
    text: summary.text,
    fromSeq: 0,
    toSeq: plan.toSeq,
    ...(summary.compacted !== null && { compacted: summary.compacted }),
  })
  return { summary, checkpoint, tokensAfter: plan.keptTokens + size.of(checkpoint) }
}

function figuresOf(
  { settings }: ConversationParts,
  { toSeq }: ConversationPlan,
  { way, detail, runId, usage }: WrittenSummary,
): JsonObject {
  return {
    way,
    detail,
    to_seq: toSeq,
    child_run_id: runId,
    ...(usage !== null && used(usage, settings.prices)),
  }
}
