import type { AnyItem } from '../../protocol/items.ts'
import { cutToTokens } from '../tool-history/cut-to-tokens.ts'
import type { TokenCounter } from '../tool-history/estimate-tokens.ts'
import { itemTokens, type CompactionPlan } from './plan-compaction.ts'
import { summarizedItems } from './standing-messages.ts'
import { summaryMessage } from './summary-message.ts'

/**
 * Carries a compaction out: the lead, one system message with the summary, the messages that stand, what is kept. A
 * summary that is no shorter than what it stands for is cut, so that the result always has fewer tokens than the items
 * had, by the same counter.
 */
export function compactedItems(
  { lead, old, standing, kept }: CompactionPlan,
  summary: string,
  countTokens?: TokenCounter,
): readonly AnyItem[] {
  const messageTokens: TokenCounter = (text) => itemTokens([summaryMessage(text)], countTokens)
  const roomTokens = itemTokens(summarizedItems(old, standing), countTokens) - 1
  const text = cutToTokens(summary, roomTokens, messageTokens)
  return [...lead, summaryMessage(text), ...standing, ...kept]
}
