import type { TokenUsage } from '../../machines/loop.types.ts'
import { summarizeItems } from '../history/compaction/summarize-items.ts'
import { SUMMARY_INSTRUCTIONS, summaryQuestion } from '../history/compaction/summary-question.ts'
import type { Checkpoint } from '../history/context-bundle/conversation-source.ts'
import { cutToTokens } from '../history/tool-history/cut-to-tokens.ts'
import { askModel } from './ask-model.ts'
import { compactAtProvider } from './compact-at-provider.ts'
import type { CompactionWay } from './conversation-api.ts'
import type { ConversationParts } from './conversation-parts.ts'
import type { ConversationPlan } from './plan-conversation.ts'

/** A summary, and how it came about. */
export interface WrittenSummary {
  readonly text: string
  /** What the provider made of the same, opaque. */
  readonly compacted: NonNullable<Checkpoint['compacted']> | null
  readonly way: CompactionWay
  /** Why it is not the way that was asked for; null: it is. */
  readonly detail: string | null
  /** The run in which a model was asked; null: none was. */
  readonly runId: string | null
  readonly usage: TokenUsage | null
}

/** Writes the summary of a plan in one way. Where that fails the rules write it: a conversation must not stop for it. */
export async function writeSummary(
  parts: ConversationParts,
  plan: ConversationPlan,
  way: CompactionWay,
  signal: AbortSignal,
): Promise<WrittenSummary> {
  const { countTokens, compaction, toolHistory } = parts.settings
  const { summaryTokens: tokensMax } = compaction
  const rules: WrittenSummary = {
    text: summarizeItems(plan.old, { tokensMax, countTokens, config: toolHistory }),
    compacted: null,
    way: 'rules',
    detail: null,
    runId: null,
    usage: null,
  }
  switch (way) {
    case 'rules':
      return rules
    case 'model': {
      const question = summaryQuestion(plan.old, { tokensMax })
      const asked = await askModel(parts, { instructions: SUMMARY_INSTRUCTIONS, question, signal })
      const { runId, usage, detail } = asked
      if (asked.text === null) return { ...rules, detail, runId, usage }
      const text = cutToTokens(asked.text, tokensMax, countTokens)
      return { ...rules, text, way, runId, usage }
    }
    case 'provider': {
      const made = await compactAtProvider(parts, plan, signal)
      const { usage } = made
      return made.compacted === null
        ? { ...rules, detail: made.detail, usage }
        : { ...rules, compacted: made.compacted, way, usage }
    }
  }
}
