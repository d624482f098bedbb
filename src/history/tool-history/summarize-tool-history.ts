import type { InputItem } from '../../protocol/items.ts'
import { placeHistory, type HistoryInput } from './place-history.ts'
import { summarizeWithModel, type Summarize, type SummaryOutcome } from './summarize-with-model.ts'

export interface SummarizeOptions extends HistoryInput {
  readonly summarize: Summarize
  readonly signal: AbortSignal
}

/**
 * Has the calls of a conversation that are old summarized by a model, for `insertToolHistory` with the same items and
 * settings. Never rejects: `rules` in the outcome says that the model was no help, and why.
 */
export async function summarizeToolHistory(
  items: readonly InputItem[],
  options: SummarizeOptions,
): Promise<SummaryOutcome> {
  const { old, config, countTokens } = placeHistory(items, options)
  const calls = old.map(({ prior }) => prior)
  return summarizeWithModel(calls, config, countTokens, options.summarize, options.signal)
}
