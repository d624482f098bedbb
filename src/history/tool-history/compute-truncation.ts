import { callTokens } from './call-tokens.ts'
import { estimateTokens, type TokenCounter } from './estimate-tokens.ts'
import { priorCall, type ToolCallEntry } from './prior-call.ts'
import { readToolHistoryConfig, type ToolHistoryOptions } from './read-tool-history-config.ts'
import { recentFrom } from './recent-from.ts'
import { summarizeCalls } from './summarize-calls.ts'

/** What cutting a history would do. */
export interface Truncation {
  readonly shouldTruncate: boolean
  /** Null when nothing is cut, or the cap leaves no room. */
  readonly summary: string | null
  readonly recentCallIds: ReadonlySet<string>
  readonly truncatedCallIds: ReadonlySet<string>
  /** The tokens of the calls that go, less those of the summary that comes; never below 0. */
  readonly tokensSaved: number
}

/**
 * Works out what of a history would go by the threshold rule, whatever trigger is set: only when all calls together
 * have more tokens than the threshold and there are more of them than are kept.
 */
export function computeTruncation(
  entries: readonly ToolCallEntry[],
  config?: ToolHistoryOptions,
  tokenCounter: TokenCounter = estimateTokens,
): Truncation {
  const settings = readToolHistoryConfig({ ...config, trigger: 'threshold' })
  const calls = entries.map((entry) => priorCall(entry, entry.callId))
  const tokens = calls.map((call) => callTokens(call, tokenCounter))
  const from = recentFrom(calls.length, settings, (index) => tokens[index] ?? 0)
  const old = calls.slice(0, from)
  const summary = summarizeCalls(old, settings, tokenCounter)
  const oldTokens = tokens.slice(0, from).reduce((sum, one) => sum + one, 0)
  return {
    shouldTruncate: from > 0,
    summary,
    recentCallIds: new Set(calls.slice(from).map(({ callId }) => callId)),
    truncatedCallIds: new Set(old.map(({ callId }) => callId)),
    tokensSaved: Math.max(0, oldTokens - (summary === null ? 0 : tokenCounter(summary))),
  }
}
