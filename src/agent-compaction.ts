// Puts the compaction of an agent together: what of a conversation gives way is for history to say, when and by whom it
// is done for the loop, and the two do not know each other.
import { LoopchartError } from './errors.ts'
import { compactedItems } from './history/compaction/compacted-items.ts'
import { itemTokens, planCompaction } from './history/compaction/plan-compaction.ts'
import { summarizedItems } from './history/compaction/standing-messages.ts'
import { summarizeItems } from './history/compaction/summarize-items.ts'
import { SUMMARY_INSTRUCTIONS, summaryQuestion } from './history/compaction/summary-question.ts'
import { cutToTokens } from './history/tool-history/cut-to-tokens.ts'
import { estimateTokens } from './history/tool-history/estimate-tokens.ts'
import type { CompactionDoubt, CompactionPlan, CompactionPort, CustomCompaction } from './loop/agent.ts'
import type { Model } from './loop/model.ts'
import type { AnyItem } from './protocol/items.ts'

/** When the conversation of a run is made shorter, and how. One of the three `at` must be given. */
export interface CompactionOptions {
  /** Who does it; `rules`, which ask nobody, when left out. A way that fails gives way to the rules. */
  readonly way?: 'rules' | 'model' | 'provider'
  /** When a response has used so many tokens. */
  readonly atTokens?: number
  /** When it has used this share of `window`, or of the window that the model is known to have: above 0, 1 at most. */
  readonly atShare?: number
  /** How many tokens the model takes. */
  readonly window?: number
  /** When the conversation has so many items. */
  readonly atItems?: number
  /** How many tokens of the newest items stay as they are; half of the trigger when left out. */
  readonly keepTokens?: number
  /** The most tokens that a summary may have; 1,000 when left out. */
  readonly summaryTokens?: number
  /** A way of your own, instead of `way`. What it gives must keep each call together with its output. */
  readonly compact?: CustomCompaction
}

/** What an agent compacts with, and when. */
export interface AgentCompaction {
  readonly port: CompactionPort
  readonly atTokens: number | null
  readonly atItems: number | null
}

const SUMMARY_TOKENS_DEFAULT = 1000

/** Reads the options; null without any. Throws `agent_invalid`, saying what to give instead. */
export function agentCompaction(
  options: CompactionOptions | undefined,
  models: readonly Model[],
): AgentCompaction | null {
  if (options === undefined) return null
  checkOptions(options, models)
  const atTokens = triggerTokens(options, models)
  const { atItems = null, summaryTokens: tokensMax = SUMMARY_TOKENS_DEFAULT, compact = null } = options
  const keepTokens = options.keepTokens ?? (atTokens === null ? Infinity : Math.floor(atTokens / 2))
  const keepItems = atItems === null ? Infinity : Math.floor(atItems / 2)
  const byRules = (plan: CompactionPlan): readonly AnyItem[] =>
    compactedItems(plan, summarizeItems(summarizedItems(plan.old, plan.standing), { tokensMax }))
  const port: CompactionPort = {
    way: compact === null ? (options.way ?? 'rules') : 'custom',
    plan: (items, usedTokens) =>
      planCompaction(items, { keepTokens: keepTokens * estimatedShare(items, usedTokens), keepItems }),
    doubt: (plan, usedTokens) => doubtIn(plan, byRules(plan), { atTokens, atItems, usedTokens }),
    byRules,
    withSummary: (plan, summary) =>
      compactedItems(plan, cutToTokens(summary.trim(), tokensMax, estimateTokens)),
    instructions: SUMMARY_INSTRUCTIONS,
    question: (plan) => summaryQuestion(plan.old, { tokensMax }),
    countTokens: (items) => itemTokens(items),
    custom: compact,
  }
  return { port, atTokens, atItems }
}

/** The trigger goes by what the provider counts. Where that is more than the estimate, the estimate stands for more. */
function estimatedShare(items: readonly AnyItem[], usedTokens: number | null): number {
  return usedTokens === null || usedTokens === 0 ? 1 : Math.min(1, itemTokens(items) / usedTokens)
}

interface Triggers {
  readonly atTokens: number | null
  readonly atItems: number | null
  readonly usedTokens: number | null
}

// The rules' own summary stands for any: none may be longer than it may.
function doubtIn(
  { lead, old, kept }: CompactionPlan,
  after: readonly AnyItem[],
  { atTokens, atItems, usedTokens }: Triggers,
): CompactionDoubt | null {
  const before = [...lead, ...old, ...kept]
  const isOfTokens = atTokens !== null && (atItems === null || (usedTokens ?? 0) >= atTokens)
  const share = estimatedShare(before, usedTokens)
  const sizeOf = (items: readonly AnyItem[]): number =>
    isOfTokens ? itemTokens(items) / share : items.length
  const trigger = isOfTokens ? atTokens : (atItems ?? 0)
  if (sizeOf(before) - sizeOf(after) < Math.floor(trigger * GAIN_SHARE_MIN)) return 'gains_little'
  return sizeOf(after) >= trigger ? 'stays_long' : null
}

// Of the trigger. Less would be used up by a few turns, and each compaction begins a new chain.
const GAIN_SHARE_MIN = 0.25

const WAYS: ReadonlySet<unknown> = new Set(['rules', 'model', 'provider'])
const QUANTITIES = ['atTokens', 'window', 'atItems', 'keepTokens', 'summaryTokens'] as const

// A record, so that an option that is added and not listed here does not compile.
const OPTIONS: Readonly<Record<keyof CompactionOptions, true>> = {
  way: true,
  atTokens: true,
  atShare: true,
  window: true,
  atItems: true,
  keepTokens: true,
  summaryTokens: true,
  compact: true,
}

function checkOptions(options: CompactionOptions, models: readonly Model[]): void {
  const unknown = Object.keys(options).find((option) => !Object.hasOwn(OPTIONS, option))
  if (unknown !== undefined) throw refusal(`there is no compaction.${unknown}`)
  for (const field of QUANTITIES) {
    const value = options[field]
    if (value !== undefined && (!Number.isSafeInteger(value) || value < 1))
      throw refusal(`compaction.${field} must be a whole number of at least 1`)
  }
  const { way, atTokens, atShare, atItems, compact } = options
  if (way !== undefined && !WAYS.has(way)) throw refusal('compaction.way must be rules or model or provider')
  if (compact !== undefined && (typeof compact !== 'function' || way !== undefined))
    throw refusal('compaction.compact must be a function, and is given instead of compaction.way')
  if (atShare !== undefined && !(typeof atShare === 'number' && atShare > 0 && atShare <= 1))
    throw refusal('compaction.atShare must be a number above 0 and at most 1')
  if (atTokens === undefined && atShare === undefined && atItems === undefined)
    throw refusal('compaction needs one of atTokens, atShare and atItems')
  if (way === 'provider') checkEndpoints(models)
}

/** What one provider made is opaque to another: a run that turned to that one could not go on. */
function checkEndpoints(models: readonly Model[]): void {
  const endpoints = new Set(models.map(({ compact }) => compact?.endpoint ?? null))
  if (endpoints.has(null))
    throw refusal('compaction.way provider: the model is not known to have an endpoint for it')
  if (endpoints.size > 1) throw refusal('compaction.way provider: all models must be of one provider')
}

/** The lower of what is given as tokens and as a share. */
function triggerTokens(
  { atTokens, atShare, window }: CompactionOptions,
  models: readonly Model[],
): number | null {
  if (atShare === undefined) return atTokens ?? null
  const known = models.flatMap(({ contextWindow }) => contextWindow ?? [])
  const whole = window ?? (known.length === 0 ? null : Math.min(...known))
  if (whole === null)
    throw refusal(
      'compaction.atShare: the window of the model is not known; give compaction.window, contextWindow of the model, or compaction.atTokens',
    )
  return Math.min(atTokens ?? Infinity, Math.max(1, Math.floor(whole * atShare)))
}

function refusal(message: string): LoopchartError {
  return new LoopchartError('agent_invalid', message)
}
