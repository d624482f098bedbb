import { LoopchartError } from '../errors.ts'
import type { ContextStrategy } from '../history/context-bundle/choose-context-strategy.ts'
import type { StrategyName } from '../history/tool-history/choose-strategy.ts'
import { estimateTokens, type TokenCounter } from '../history/tool-history/estimate-tokens.ts'
import {
  readToolHistoryConfig,
  type ToolHistoryConfig,
} from '../history/tool-history/read-tool-history-config.ts'
import type { Agent } from '../loop/agent.ts'
import type { Model } from '../loop/model.ts'
import type { JsonObject } from '../protocol/json.ts'
import type {
  CompactionWay,
  ConversationCompaction,
  ConversationOptions,
  Prices,
  ToolHistorySettings,
} from './conversation-api.ts'

/** Everything that a conversation goes by, with nothing left open. */
export interface ConversationSettings {
  readonly strategy: ContextStrategy | 'auto'
  readonly recent: number
  readonly budgetTokens: number
  readonly countTokens: TokenCounter
  readonly toolStrategy: StrategyName | 'auto'
  readonly toolHistory: ToolHistoryConfig
  readonly summarizationModel: Model | null
  readonly usesCursor: boolean
  readonly compaction: CompactionSettings
  /** Null: any number. */
  readonly tokensMax: number | null
  readonly costMax: number | null
  readonly prices: Prices | null
  readonly actorId: string
  readonly origin: string
}

interface CompactionSettings {
  /** False: only when somebody asks. */
  readonly isAutomatic: boolean
  readonly way: CompactionWay
  readonly atTokens: number
  readonly keepTokens: number
  readonly atMessages: number
  readonly summaryTokens: number
}

// Of most models there is nobody to ask; this is what the smaller ones in use have.
const WINDOW_TOKENS = 128_000
const BUDGET_SHARE = 0.6
const RECENT = 1000
const SUMMARY_TOKENS = 1000
const SUMMARY_SHARE = 0.1

/** Lays options over the defaults. Throws `usage`, naming the option, for one that does not exist or means nothing. */
export function readSettings(agent: Agent, options: ConversationOptions): ConversationSettings {
  checkNames('', options, OPTIONS)
  const { context = {}, toolHistory = {}, budget = {}, prices = null } = options
  checkNames('context.', context, CONTEXT_OPTIONS)
  checkNames('budget.', budget, BUDGET_OPTIONS)
  const window = agent.models[0]?.contextWindow ?? WINDOW_TOKENS
  const budgetTokens =
    whole('context.budgetTokens', context.budgetTokens) ?? Math.floor(window * BUDGET_SHARE)
  const recent = whole('context.recent', context.recent) ?? RECENT
  const costMax = positive('budget.cost', budget.cost)
  if (prices !== null) checkPrices(prices)
  if (costMax !== null && prices === null) throw refusal('budget.cost needs prices')
  return {
    strategy: oneOf('context.strategy', context.strategy, STRATEGIES) ?? 'auto',
    recent,
    budgetTokens,
    countTokens: context.countTokens ?? estimateTokens,
    ...readToolHistory(agent, toolHistory),
    usesCursor: oneOf('crossRunCursor', options.crossRunCursor, ['use', 'omit']) === 'use',
    compaction: readCompaction(options.compaction ?? {}, budgetTokens, recent),
    tokensMax: whole('budget.tokens', budget.tokens),
    costMax,
    prices,
    actorId: options.actorId ?? 'user',
    origin: options.origin ?? 'loopchart',
  }
}

/** The settings for the log: what is data in them. */
export function settingsJson(settings: ConversationSettings): JsonObject {
  const { countTokens: _, summarizationModel, toolHistory, compaction, prices, ...rest } = settings
  // Infinity says that there is no bound, and JSON has no word for it.
  const told: JsonObject = JSON.parse(JSON.stringify({ ...rest, toolHistory, compaction, prices }))
  return { ...told, summarizationModel: summarizationModel?.name ?? null }
}

function readToolHistory(
  { tools }: Agent,
  given: ToolHistorySettings,
): Pick<ConversationSettings, 'toolStrategy' | 'toolHistory' | 'summarizationModel'> {
  const { strategy, toolHistorySummarizationModel: model, ...config } = given
  if (model !== undefined && typeof Object(model).send !== 'function') {
    throw refusal('toolHistory.toolHistorySummarizationModel must be a model, with a function send')
  }
  return {
    toolStrategy: oneOf('toolHistory.strategy', strategy, ['auto', 'native', 'text-embed']) ?? 'auto',
    // What the tools say of themselves holds until somebody says otherwise.
    toolHistory: readToolHistoryConfig({ readOnlyTools: tools.readOnlyTools ?? [], ...config }),
    summarizationModel: model ?? null,
  }
}

function readCompaction(
  given: ConversationCompaction | false,
  budgetTokens: number,
  recent: number,
): CompactionSettings {
  const options = given === false ? {} : given
  checkNames('compaction.', options, COMPACTION_OPTIONS)
  const atShare = share('compaction.atShare', options.atShare) ?? 0.8
  const keepShare = share('compaction.keepShare', options.keepShare) ?? 0.5
  if (keepShare >= atShare) throw refusal('compaction.keepShare must be less than compaction.atShare')
  const atTokens = Math.floor(budgetTokens * atShare)
  const summaryTokens =
    whole('compaction.summaryTokens', options.summaryTokens) ??
    Math.max(1, Math.min(SUMMARY_TOKENS, Math.floor(budgetTokens * SUMMARY_SHARE)))
  return {
    isAutomatic: given !== false,
    way: oneOf('compaction.way', options.way, ['rules', 'model', 'provider']) ?? 'rules',
    atTokens,
    // A summary and what stays beside it must not be enough for the next one.
    keepTokens: Math.max(0, Math.min(Math.floor(budgetTokens * keepShare), atTokens - 2 * summaryTokens)),
    // What is no longer selected must be in a summary before.
    atMessages: Math.min(whole('compaction.atMessages', options.atMessages) ?? recent, recent),
    summaryTokens,
  }
}

const STRATEGIES = [
  'auto',
  'recent_messages_v1',
  'summaries_recent_messages_v1',
  'hierarchical_summaries_recent_messages_v1',
] as const

// Records, so that an option that is added and not listed here does not compile.
const OPTIONS: Readonly<Record<keyof ConversationOptions, true>> = {
  id: true,
  store: true,
  context: true,
  toolHistory: true,
  crossRunCursor: true,
  compaction: true,
  budget: true,
  prices: true,
  actorId: true,
  origin: true,
}
const CONTEXT_OPTIONS: Readonly<Record<keyof NonNullable<ConversationOptions['context']>, true>> = {
  strategy: true,
  recent: true,
  budgetTokens: true,
  countTokens: true,
}
const COMPACTION_OPTIONS: Readonly<Record<keyof ConversationCompaction, true>> = {
  way: true,
  atShare: true,
  keepShare: true,
  atMessages: true,
  summaryTokens: true,
}
const BUDGET_OPTIONS: Readonly<Record<keyof NonNullable<ConversationOptions['budget']>, true>> = {
  tokens: true,
  cost: true,
}

function checkNames(place: string, given: object, known: Readonly<Record<string, true>>): void {
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(known, name))
  if (unknown !== undefined) throw refusal(`${place}${unknown} is not an option`)
}

function checkPrices({ input, output, cachedInput = 0 }: Prices): void {
  if (![input, output, cachedInput].every(isPrice)) {
    throw refusal('prices must have input and output, and may have cachedInput, each a number of 0 or more')
  }
}

function isPrice(value: unknown): boolean {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0
}

function whole(name: string, value: number | undefined): number | null {
  if (value === undefined) return null
  if (Number.isSafeInteger(value) && value >= 1) return value
  throw refusal(`${name} must be a whole number of 1 or more`)
}

function positive(name: string, value: number | undefined): number | null {
  if (value === undefined) return null
  if (Number.isFinite(value) && value > 0) return value
  throw refusal(`${name} must be a number of more than 0`)
}

function share(name: string, value: number | undefined): number | null {
  if (value === undefined) return null
  if (value > 0 && value <= 1) return value
  throw refusal(`${name} must be more than 0 and at most 1`)
}

function oneOf<T extends string>(name: string, value: T | undefined, known: readonly T[]): T | null {
  if (value === undefined) return null
  if (known.includes(value)) return value
  throw refusal(`${name} must be one of ${known.join(', ')}`)
}

function refusal(complaint: string): LoopchartError {
  return new LoopchartError('usage', `conversation: ${complaint}`)
}
