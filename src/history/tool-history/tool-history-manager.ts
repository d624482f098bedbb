/**
 * Tool history: the only place that tells a model about tool work of earlier turns. Recent calls stay whole, older ones
 * become a summary of a few lines, and a strategy decides what either looks like in a request. Nothing here reads a
 * clock or the world: the same calls and settings always give the same bytes.
 */
import type { InputItem } from '../../protocol/items.ts'
import { estimateTokens, type TokenCounter } from './estimate-tokens.ts'
import { formatEntry, type FormattedToolEntry } from './format-entry.ts'
import { callTokens } from './call-tokens.ts'
import { priorCall, type PriorCall } from './prior-call.ts'
import {
  readToolHistoryConfig,
  type ToolHistoryConfig,
  type ToolHistoryOptions,
} from './read-tool-history-config.ts'
import { recentFrom } from './recent-from.ts'
import { SentCallIds } from './sent-call-ids.ts'
import { summarizeWithModel, summaryOf, type Summarize, type SummaryOutcome } from './summarize-with-model.ts'
import { TextEmbedStrategy } from './text-embed-strategy.ts'
import type { ToolHistoryStrategy } from './tool-history-strategy.ts'

/** Where the tool history says what it did; a pino logger fits. */
export interface ToolHistoryLogger {
  trace(message: string): void
  warn(message: string): void
}

/** A history in which old calls have given way to a summary. */
export interface CompactedHistory {
  /** Null when no call is old, or the cap leaves no room. */
  readonly summary: string | null
  readonly recentCalls: readonly FormattedToolEntry[]
  readonly truncatedCount: number
  readonly originalCount: number
}

/** The tool calls of a conversation, in the order in which they were added. */
export class ToolHistoryManager {
  readonly #config: ToolHistoryConfig
  readonly #countTokens: TokenCounter
  readonly #logger: ToolHistoryLogger | null
  #calls: PriorCall[] = []
  #tokens: number[] = []
  #ids = new SentCallIds()
  #summary: SummaryOutcome | null = null

  /** Throws `usage` for settings that mean nothing. Without a counter, tokens are estimated. */
  constructor(config?: ToolHistoryOptions, tokenCounter?: TokenCounter, logger?: ToolHistoryLogger) {
    this.#config = readToolHistoryConfig(config)
    this.#countTokens = tokenCounter ?? estimateTokens
    this.#logger = logger ?? null
  }

  /** Adds a call that has its result. `args` may be anything, also undefined. */
  addToolCall(callId: string, name: string, args: unknown, result: string, isError = false): void {
    this.#calls.push(priorCall({ callId, name, args, result, isError }, this.#ids.next(callId)))
  }

  /** The recent calls as they were, and a summary of those before them. */
  getCompactedHistory(): CompactedHistory {
    const from = this.#recentFrom()
    return {
      summary: summaryOf(this.#calls.slice(0, from), this.#config, this.#countTokens, this.#summary),
      recentCalls: this.#calls.slice(from).map(formatEntry),
      truncatedCount: from,
      originalCount: this.#calls.length,
    }
  }

  /** The history as items of a request: the summary, then the recent calls in their order. */
  renderAsItems(strategy: ToolHistoryStrategy = new TextEmbedStrategy()): readonly InputItem[] {
    const { summary, recentCalls } = this.getCompactedHistory()
    const items = [
      ...(summary === null ? [] : strategy.renderSummary(summary)),
      ...recentCalls.flatMap((entry) => strategy.renderEntry(entry)),
    ]
    this.#logger?.trace(`[ToolHistory] Rendered ${items.length} items via ${strategy.name} strategy`)
    return items
  }

  /**
   * Has the calls that are old now summarized by a model; what is rendered from then on uses its text, until more calls
   * have become old. Never rejects: `rules` in the outcome says that the model was no help, and why.
   */
  async summarizeWith(summarize: Summarize, signal: AbortSignal): Promise<SummaryOutcome> {
    const calls = this.#calls
    const old = calls.slice(0, this.#recentFrom())
    const outcome = await summarizeWithModel(old, this.#config, this.#countTokens, summarize, signal)
    // The history may have been cleared meanwhile, and then it is about calls that are gone.
    if (calls === this.#calls) this.#summary = outcome
    return outcome
  }

  /** The tokens of all calls with their arguments and results. */
  getTotalTokens(): number {
    let tokens = 0
    for (const index of this.#calls.keys()) tokens += this.#tokensAt(index)
    return tokens
  }

  /** Whether all calls together have more tokens than the threshold. */
  shouldTruncate(): boolean {
    return this.getTotalTokens() > this.#config.truncationThreshold
  }

  getHistoryLength(): number {
    return this.#calls.length
  }

  /** Forgets every call. */
  clear(): void {
    this.#calls = []
    this.#tokens = []
    this.#ids = new SentCallIds()
    this.#summary = null
  }

  #recentFrom(): number {
    return recentFrom(this.#calls.length, this.#config, (index) => this.#tokensAt(index))
  }

  // Counted when somebody asks, and once: a tokenizer can be slow, and the default trigger needs none.
  #tokensAt(index: number): number {
    const known = this.#tokens[index]
    if (known !== undefined) return known
    const call = this.#calls[index]
    const tokens = call === undefined ? 0 : callTokens(call, this.#countTokens)
    this.#tokens[index] = tokens
    return tokens
  }
}
