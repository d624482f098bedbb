import type { CommandAnswer, TokenUsage } from '../../machines/loop.types.ts'
import type { Frame } from '../frames/generated/frame.ts'
import type { ContextStrategy } from '../history/context-bundle/choose-context-strategy.ts'
import type { ConversationEntry } from '../history/context-bundle/conversation-source.ts'
import type { StrategyName } from '../history/tool-history/choose-strategy.ts'
import type { TokenCounter } from '../history/tool-history/estimate-tokens.ts'
import type { ToolHistoryOptions } from '../history/tool-history/read-tool-history-config.ts'
import type { RunStore } from '../journal/run-store.ts'
import type { Agent } from '../loop/agent.ts'
import type { Model } from '../loop/model.ts'
import type { Run, RunResult } from '../loop/run.ts'
import type { InputPart } from '../loop/run-input.ts'

export interface ConversationOptions {
  /** Of the conversation to go on with, or of a new one; a random one when left out. */
  readonly id?: string
  /** Where it and its runs are kept, or the path of a file for that; in memory without it. */
  readonly store?: RunStore | string
  /** How much of the conversation a run is told. */
  readonly context?: ContextOptions
  /** How the work of earlier runs with tools is told. */
  readonly toolHistory?: ToolHistorySettings
  /** `use`: go on from the provider's own memory of the last run while it has it. `omit` is the default. */
  readonly crossRunCursor?: 'use' | 'omit'
  /** When older turns give way to a summary, and who writes it; false: only when somebody asks for it. */
  readonly compaction?: ConversationCompaction | false
  /** What the whole conversation may use up. A message that comes after that is refused. */
  readonly budget?: { readonly tokens?: number; readonly cost?: number }
  readonly prices?: Prices
  /** Who sends the messages, for the record. */
  readonly actorId?: string
  /** Where the messages come from, for the record. */
  readonly origin?: string
}

export interface ContextOptions {
  readonly strategy?: ContextStrategy | 'auto'
  /** How many messages of the user at most; all that the budget has room for when left out. */
  readonly recent?: number
  /** How many tokens of the conversation at most; 60 % of the model's window when left out. */
  readonly budgetTokens?: number
  /** An estimate from the length of a text when left out. */
  readonly countTokens?: TokenCounter
}

export interface ToolHistorySettings extends ToolHistoryOptions {
  /** `auto`, the default: as items where the provider is known to take them, and as text elsewhere. */
  readonly strategy?: StrategyName | 'auto'
  /** Has this model summarise calls that have become old, instead of the rules. */
  readonly toolHistorySummarizationModel?: Model
}

export interface ConversationCompaction {
  /** Who writes the summary; `rules`, which asks nobody, when left out. A way that fails gives way to the rules. */
  readonly way?: CompactionWay
  /** The share of `budgetTokens` from which on older turns are summarised; 0.8 when left out. */
  readonly atShare?: number
  /** The share of `budgetTokens` that the turns that stay may have; 0.5 when left out. */
  readonly keepShare?: number
  /** The number of messages since the last summary from which on older turns are summarised; any when left out. */
  readonly atMessages?: number
  /** The most tokens that a summary may have; 1,000 when left out, or a tenth of `budgetTokens` where that is less. */
  readonly summaryTokens?: number
}

/** By rules, by asking the model, or by the provider's own endpoint. */
export type CompactionWay = 'rules' | 'model' | 'provider'

/** Per million tokens, in any one currency. */
export interface Prices {
  readonly input: number
  readonly output: number
  /** For input that the provider had in its cache; as `input` when left out. */
  readonly cachedInput?: number
}

/** What a conversation has used up. */
export interface ConversationUsage extends TokenUsage {
  /** Null without prices. */
  readonly cost: number | null
  /** Messages of the user. */
  readonly messages: number
  readonly runs: number
}

/** What became of a message. */
export type TurnResult = RunResult | RefusedTurn

export interface RefusedTurn {
  readonly status: 'refused'
  readonly reason: RefusalReason
  readonly message: string
}

/**
 * Why a message was not taken. `open_run`: a run of this conversation has not ended and nobody drives it: `resume` or
 * `abandon` it first. `queue_full`: too many messages wait already.
 */
export type RefusalReason =
  | 'open_run'
  | 'nothing_open'
  | 'budget_used_up'
  | 'queue_full'
  | 'closed'
  | 'cancelled'
  | 'context_compile_failed'
  | 'store_failed'

/** A message on its way: it can be awaited, and read while it is answered. */
export interface ConversationTurn extends AsyncIterable<Frame>, PromiseLike<TurnResult> {
  /** At once: whether the message was taken, has to wait, or was refused. */
  readonly receipt: TurnReceipt
  /** Resolves when all is over; rejects only for a bug or a broken store. */
  readonly result: Promise<TurnResult>
  /** The run for the message once it has begun; null: there will be none. */
  readonly run: Promise<Run | null>
  /** Every run for the message: a second one when the provider refused the first for how it told earlier calls. */
  runs(): AsyncIterable<Run>
  textStream(): AsyncIterable<string>
  /** Cancels the run, or takes the message back while it waits. */
  cancel(reason?: string): Promise<CommandAnswer>
}

export interface TurnReceipt extends CommandAnswer {
  /** How many messages are answered before this one. */
  readonly ahead: number
}

/** What a compaction came to. */
export type CompactionResult =
  | {
      readonly status: 'compacted'
      /** Who wrote the summary, which is `rules` where another way failed. */
      readonly way: CompactionWay
      readonly entrySeq: number
      readonly tokensBefore: number
      readonly tokensAfter: number
      /** Why it was not the way that was asked for; null: it was. */
      readonly detail: string | null
    }
  | { readonly status: 'refused'; readonly reason: string }

export interface ForkConversationOptions {
  /** The last entry that the new conversation begins with; the latest when left out, -1 for none. */
  readonly at?: number
  readonly id?: string
}

/** Many runs, one memory. One process has it open at a time. */
export interface Conversation extends AsyncDisposable {
  readonly id: string
  /** `idle`; `running`: a message is being answered; `open`: a run has not ended and nobody drives it. */
  readonly state: 'idle' | 'running' | 'open'
  /** The run that `resume` would go on with; null: there is none. */
  readonly openRun: string | null
  readonly usage: ConversationUsage
  /** What it holds, the oldest first. */
  readonly entries: readonly ConversationEntry[]
  /** The agent that answers. */
  readonly agent: Agent
  send(message: string | readonly InputPart[], options?: { readonly signal?: AbortSignal }): ConversationTurn
  /** Goes on with the open run. */
  resume(options?: { readonly signal?: AbortSignal }): ConversationTurn
  /** Leaves the open run for good: what it did so far is kept. False: there is none. */
  abandon(): Promise<boolean>
  /** Has older turns summarised now. */
  compact(options?: { readonly way?: CompactionWay }): Promise<CompactionResult>
  /** A new conversation that begins with entries of this one. */
  fork(options?: ForkConversationOptions): Promise<Conversation>
  /** A new conversation in which another agent goes on, told so by a note if there is one. */
  handoff(agent: Agent, options?: ForkConversationOptions & { readonly note?: string }): Promise<Conversation>
  /** Every frame of its own log, from a number on. */
  frames(from?: number): AsyncIterable<Frame>
  /** Lets go of it once what is under way is let go of: a run that is not at its end can be resumed. */
  close(): Promise<void>
}
