import type { InputItem } from '../../protocol/items.ts'
import type { FormattedToolEntry } from './format-entry.ts'

/** How tool work of earlier turns is told to a model. Must give the same items for the same entry. */
export interface ToolHistoryStrategy {
  /** For logs and records. */
  readonly name: string
  /** The items of one call and its result. */
  renderEntry(entry: FormattedToolEntry): readonly InputItem[]
  /** The items of the summary of older calls; none when it is empty. */
  renderSummary(summary: string): readonly InputItem[]
}
