import type { AnyItem } from '../../protocol/items.ts'
import { readSummaryText, summaryText } from '../context-bundle/summary-text.ts'
import { messageText } from './item-text.ts'

/** The message that stands for what a compaction took away, in the form that bundles have for their summaries. */
export function summaryMessage(summary: string): AnyItem {
  return { type: 'message', role: 'system', content: summaryText({}, summary) }
}

/** The summary that an item carries, of a compaction or a bundle; null when it is something else. */
export function readSummaryMessage(item: AnyItem): string | null {
  return item.type === 'message' && item['role'] === 'system' ? readSummaryText(messageText(item)) : null
}
