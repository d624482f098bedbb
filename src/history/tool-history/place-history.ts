import type { InputItem } from '../../protocol/items.ts'
import { callTokens } from './call-tokens.ts'
import { estimateTokens, type TokenCounter } from './estimate-tokens.ts'
import { pairItems, type ItemPair } from './pair-items.ts'
import type { PriorCall } from './prior-call.ts'
import {
  readToolHistoryConfig,
  type ToolHistoryConfig,
  type ToolHistoryOptions,
} from './read-tool-history-config.ts'
import { isFailedEnvelope, readPair, type IsFailedResult } from './read-pair.ts'
import { recentFrom } from './recent-from.ts'
import { responseGroups, type ResponseGroups } from './response-groups.ts'
import { SentCallIds } from './sent-call-ids.ts'

/** What decides which calls of a conversation are old. */
export interface HistoryInput {
  readonly config?: ToolHistoryOptions
  readonly tokenCounter?: TokenCounter
  /**
   * Where the present turn begins among the items. From there on everything stays as it is, calls with their outputs
   * included. Without it, all of it is history.
   */
  readonly currentFrom?: number
  /** Without it, a result is an error when it is an envelope with `"ok": false`. */
  readonly isFailed?: IsFailedResult
}

/** A call of the history and where its items are. */
export interface PlacedCall {
  readonly prior: PriorCall
  readonly pair: ItemPair
}

/** The calls of a conversation, sorted into old and recent ones. */
export interface PlacedHistory {
  readonly config: ToolHistoryConfig
  readonly countTokens: TokenCounter
  readonly old: readonly PlacedCall[]
  readonly recent: readonly PlacedCall[]
  /** The places of outputs without a call. */
  readonly orphans: ReadonlySet<number>
}

/**
 * Finds the calls of a conversation and says which of them are old. Calls that one stretch of reasoning led to stay
 * together on the side of the recent ones, since providers refuse one without the other; so a few more may be kept
 * than were asked for.
 */
export function placeHistory(items: readonly InputItem[], input: HistoryInput): PlacedHistory {
  const {
    currentFrom = items.length,
    isFailed = isFailedEnvelope,
    tokenCounter: countTokens = estimateTokens,
  } = input
  const config = readToolHistoryConfig(input.config)
  const { pairs, orphans } = pairItems(items)
  const isPrior = ({ callAt, outputAt }: ItemPair): boolean =>
    callAt < currentFrom && (outputAt ?? 0) < currentFrom
  const ids = new SentCallIds()
  // Their ids stay as they are, so an earlier call that has the same one must give way.
  for (const { call } of pairs.filter((pair) => !isPrior(pair))) ids.next(call.call_id)
  const calls = pairs
    .filter(isPrior)
    .map((pair) => ({ pair, prior: readPair(pair, ids.next(pair.call.call_id), isFailed) }))
  const tokensAt = (index: number): number => {
    const call = calls[index]
    return call === undefined ? 0 : callTokens(call.prior, countTokens)
  }
  const from = wholeGroupFrom(recentFrom(calls.length, config, tokensAt), calls, responseGroups(items))
  return {
    config,
    countTokens,
    old: calls.slice(0, from),
    recent: calls.slice(from),
    orphans: new Set([...orphans].filter((at) => at < currentFrom)),
  }
}

/** The same place, or the first call of the response that it would tear apart from its reasoning. */
function wholeGroupFrom(from: number, calls: readonly PlacedCall[], groups: ResponseGroups): number {
  const groupAt = (index: number): number | undefined => {
    const call = calls[index]
    return call === undefined ? undefined : groups.numbers[call.pair.callAt]
  }
  const group = groupAt(from)
  if (group === undefined || !groups.withReasoning.has(group)) return from
  let first = from
  while (first > 0 && groupAt(first - 1) === group) first -= 1
  return first
}
