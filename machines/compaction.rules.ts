// When a conversation is made shorter, and what becomes of it then.
import { addUsage, budgetLeft } from './call.rules.ts'
import { tokenLimit, type ReachedLimit } from './loop.rules.ts'
import type { CompactInput, CompactionCause, CompactOutput, LoopContext, LoopEmitted } from './loop.types.ts'

/** What the conversation has too much of; null: it is short enough. */
export function compactionCause({ settings, response, items }: LoopContext): CompactionCause | null {
  const { compactAtTokens, compactAtItems } = settings
  if (compactAtTokens !== null && (response?.usage?.total_tokens ?? 0) >= compactAtTokens) return 'tokens'
  return compactAtItems !== null && items.length >= compactAtItems ? 'items' : null
}

/** What a compaction is started with. */
export function compactInput(context: LoopContext): CompactInput {
  return {
    turn: context.turn,
    attempt: context.attempt,
    model: context.route.model,
    items: context.items,
    usedTokens: context.response?.usage?.total_tokens ?? null,
    left: budgetLeft(context),
  }
}

/** What a compaction comes to; items that it gave are the conversation, of which the provider knows nothing. */
export function takeCompacted(context: LoopContext, output: CompactOutput): Partial<LoopContext> {
  const usage = addUsage(context.usage, output.usage)
  return output.ok ? { items: output.items, knownItems: 0, responseId: null, usage } : { usage }
}

/** The limit that a compaction has used up; null: there is room, or the last word that the limit allows is due anyway. */
export function limitAfter(context: LoopContext, { usage }: CompactOutput): ReachedLimit | null {
  if (context.kind === 'wrap_up') return null
  return tokenLimit({ ...context, usage: addUsage(context.usage, usage) })
}

/** What the chart tells of a compaction. */
export function compactedTold(context: LoopContext, output: CompactOutput): readonly LoopEmitted[] {
  if (!output.ok) return []
  const { way, detail, tokensBefore, tokensAfter, items } = output
  return [
    {
      type: 'history_compacted',
      cause: compactionCause(context) ?? 'tokens',
      way,
      detail,
      itemsBefore: context.items.length,
      itemsAfter: items.length,
      tokensBefore,
      tokensAfter,
    },
  ]
}
