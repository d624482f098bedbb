/**
 * Compaction: makes the items of a run shorter. What came first stays, what is newest stays, and what lies between
 * gives way to a summary. Everything moves in groups, so that no call is torn from its output and no reasoning from
 * what it led to. Nothing here reads a clock or the world: the same items and settings always give the same bytes.
 */
import { LoopchartError } from '../../errors.ts'
import type { AnyItem } from '../../protocol/items.ts'
import { estimateTokens, type TokenCounter } from '../tool-history/estimate-tokens.ts'
import { groupItems, type ItemGroup } from './group-items.ts'
import { isFromCaller } from './item-text.ts'
import { isPrompt, standingMessages, summarizedItems } from './standing-messages.ts'
import { readSummaryMessage, summaryMessage } from './summary-message.ts'

/** What a compaction does with the items of a run: lead, old and kept, one behind the other, are all of them. */
export interface CompactionPlan {
  /** What the run began with: prompts, the first message of the user, and whatever a provider has compacted. */
  readonly lead: readonly AnyItem[]
  /** Gives way to a summary. */
  readonly old: readonly AnyItem[]
  /** The messages of `old` that are said again as they are, behind the summary. */
  readonly standing: readonly AnyItem[]
  /** Stays as it is. */
  readonly kept: readonly AnyItem[]
}

export interface PlanOptions {
  /** How many tokens the newest groups that stay may have together. */
  readonly keepTokens: number
  /** How many items they may have together; any number when left out. */
  readonly keepItems?: number
  /** `estimateTokens` when left out. */
  readonly countTokens?: TokenCounter
}

/**
 * Decides which items give way to a summary. The newest group stays however long it is, and so do calls that the model
 * has not answered to since. Null when there is nothing to make shorter: what is old is a summary already, or it is no
 * longer than the summary's own heading, not counting the messages that stand. Throws `usage` for a number that means
 * nothing.
 */
export function planCompaction(items: readonly AnyItem[], options: PlanOptions): CompactionPlan | null {
  const { keepTokens, keepItems = Infinity, countTokens = estimateTokens } = options
  checkQuantity('keepTokens', keepTokens)
  checkQuantity('keepItems', keepItems)
  const { groups } = groupItems(items)
  const leadTo = leadEnd(items, groups)
  const room = { items: keepItems, tokens: keepTokens }
  const from = Math.max(leadTo, keptFrom(items, groups, room, countTokens))
  const old = items.slice(leadTo, from)
  const standing = standingMessages(old)
  const rest = summarizedItems(old, standing)
  if (rest.every((item) => readSummaryMessage(item) !== null)) return null
  if (itemTokens(rest, countTokens) <= itemTokens([summaryMessage('')], countTokens)) return null
  return { lead: items.slice(0, leadTo), old, standing, kept: items.slice(from) }
}

// Providers count a picture by its size, which is not known here; its bytes as text would be far too many.
const IMAGE_TOKENS = 1000

/**
 * How many tokens items take, about: those of their JSON, and 1,000 for each image whose bytes they hold. That of
 * several items is the sum of each one's.
 */
export function itemTokens(items: readonly AnyItem[], countTokens: TokenCounter = estimateTokens): number {
  let images = 0
  const withoutImages = (key: string, value: unknown): unknown => {
    if (key !== 'image_url' || typeof value !== 'string' || !value.startsWith('data:')) return value
    images += 1
    return 'data:'
  }
  const tokens = items.reduce((sum, item) => sum + countTokens(JSON.stringify(item, withoutImages)), 0)
  return tokens + images * IMAGE_TOKENS
}

/** Throws `usage` unless a setting is a number of at least 0. */
export function checkQuantity(name: string, value: number): void {
  if (value >= 0) return
  throw new LoopchartError('usage', `compaction: ${name} must be a number of at least 0, not ${value}`)
}

/** Where the lead ends: behind the first message of the user, or behind the last thing that only a provider can read. */
function leadEnd(items: readonly AnyItem[], groups: readonly ItemGroup[]): number {
  const sealedAt = items.findLastIndex(({ type }) => type === 'compaction')
  const sealedTo = groups.find(({ from, to }) => from <= sealedAt && sealedAt < to)?.to ?? 0
  let at = 0
  for (const item of items) {
    if (!isPrompt(item)) break
    at += 1
  }
  const first = items[at]
  if (first !== undefined && isFromUser(first)) at += 1
  return Math.max(at, sealedTo)
}

function isFromUser({ type, role }: AnyItem): boolean {
  return type === 'message' && role === 'user'
}

interface Room {
  readonly items: number
  readonly tokens: number
}

function keptFrom(
  items: readonly AnyItem[],
  groups: readonly ItemGroup[],
  room: Room,
  countTokens: TokenCounter,
): number {
  const pendingFrom = pendingGroup(items, groups)
  let from = items.length
  let tokens = 0
  for (const [index, group] of [...groups.entries()].toReversed()) {
    tokens += itemTokens(items.slice(group.from, group.to), countTokens)
    const isWithin = tokens <= room.tokens && items.length - group.from <= room.items
    if (index < pendingFrom && !isWithin) break
    from = group.from
  }
  return from
}

/** The first group that must stay: the last one, or, when nothing answered its calls yet, the one that has them. */
function pendingGroup(items: readonly AnyItem[], groups: readonly ItemGroup[]): number {
  const last = groups.findLastIndex(({ from, to }) => !items.slice(from, to).every(isFromCaller))
  const group = groups[last]
  const hasCalls =
    group !== undefined &&
    items
      .slice(group.from, group.to)
      .some(({ type }) => type === 'function_call' || type === 'function_call_output')
  return hasCalls ? last : groups.length - 1
}
