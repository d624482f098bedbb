import { cutToTokens } from './cut-to-tokens.ts'
import type { TokenCounter } from './estimate-tokens.ts'
import { toolCallEntry, type PriorCall, type ToolCallEntry } from './prior-call.ts'
import type { ToolHistoryConfig } from './read-tool-history-config.ts'
import { SUMMARY_HEADING, summarizeCalls } from './summarize-calls.ts'

/** Has a model tell what calls were about; the oldest call first. */
export type Summarize = (entries: readonly ToolCallEntry[], signal: AbortSignal) => Promise<string>

/** Whose summary it became, and why; plain data, to be recorded as a decision. */
export interface SummaryOutcome {
  readonly by: 'rules' | 'model'
  readonly reason: 'nothing_old' | 'model_answered' | 'model_empty' | 'model_failed' | 'no_room' | 'aborted'
  /** What the model's failure said. */
  readonly detail: string | null
  readonly text: string | null
  /** How many of the oldest calls it is about. It counts for exactly those, and not when more have become old. */
  readonly callCount: number
}

/**
 * Has old calls summarized by a model, within the cap. When that fails, is aborted or comes to nothing, the summary by
 * rules stands in. Never rejects.
 */
export async function summarizeWithModel(
  old: readonly PriorCall[],
  config: ToolHistoryConfig,
  count: TokenCounter,
  summarize: Summarize,
  signal: AbortSignal,
): Promise<SummaryOutcome> {
  const callCount = old.length
  const byRules = (reason: SummaryOutcome['reason'], detail: string | null = null): SummaryOutcome => ({
    by: 'rules',
    reason,
    detail,
    text: summarizeCalls(old, config, count),
    callCount,
  })
  if (callCount === 0) return { by: 'rules', reason: 'nothing_old', detail: null, text: null, callCount }
  let answer: unknown
  const done = new AbortController()
  try {
    signal.throwIfAborted()
    answer = await Promise.race([
      summarize(old.map(toolCallEntry), signal),
      rejectOnAbort(signal, done.signal),
    ])
  } catch (error) {
    if (signal.aborted) return byRules('aborted')
    return byRules('model_failed', error instanceof Error ? error.message : String(error))
  } finally {
    done.abort()
  }
  if (typeof answer !== 'string' || answer.trim() === '') return byRules('model_empty')
  const text = withinCap(answer, config, count)
  if (text === null) return byRules('no_room')
  return { by: 'model', reason: 'model_answered', detail: null, text, callCount }
}

/** The summary of old calls: the model's, if there is one for exactly these, or else the one by rules. */
export function summaryOf(
  old: readonly PriorCall[],
  config: ToolHistoryConfig,
  count: TokenCounter,
  outcome: SummaryOutcome | null,
): string | null {
  const isForThese = outcome !== null && outcome.by === 'model' && outcome.callCount === old.length
  const text = isForThese && outcome.text !== null ? withinCap(outcome.text, config, count) : null
  return text ?? summarizeCalls(old, config, count)
}

function withinCap(answer: string, config: ToolHistoryConfig, count: TokenCounter): string | null {
  // A text that was recorded and is given again has its heading already.
  const text = answer.startsWith(SUMMARY_HEADING) ? answer : `${SUMMARY_HEADING}\n${answer.trim()}`
  const cut = cutToTokens(text, config.maxHistorySummaryTokens, count)
  return cut.length > SUMMARY_HEADING.length + '\n...'.length ? cut : null
}

/** For a summarizer that does not heed its signal. Lets go of that signal when `done` says so. */
async function rejectOnAbort(signal: AbortSignal, done: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true, signal: done })
  })
}
