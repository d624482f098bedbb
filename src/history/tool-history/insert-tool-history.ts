import type { InputItem } from '../../protocol/items.ts'
import { placeHistory, type HistoryInput, type PlacedHistory } from './place-history.ts'
import { renderPlaced } from './render-placed.ts'
import { summaryOf, type SummaryOutcome } from './summarize-with-model.ts'
import { TextEmbedStrategy } from './text-embed-strategy.ts'
import type { ToolHistoryLogger } from './tool-history-manager.ts'
import type { ToolHistoryStrategy } from './tool-history-strategy.ts'

export interface InsertOptions extends HistoryInput {
  /** Text without it. */
  readonly strategy?: ToolHistoryStrategy
  /** A model's summary from `summarizeToolHistory`; used if it is about exactly the calls that are old now. */
  readonly summary?: SummaryOutcome
  readonly logger?: ToolHistoryLogger
}

/** A conversation with its tool history told in its places. */
export interface InsertedHistory {
  readonly items: readonly InputItem[]
  /** Null when no call is old, or the cap leaves no room. */
  readonly summary: string | null
  readonly truncatedCount: number
  readonly originalCount: number
  /** Calls and outputs without their other half; they are told as such, not dropped. */
  readonly unpaired: readonly UnpairedItem[]
}

export interface UnpairedItem {
  readonly callId: string
  readonly missing: 'call' | 'output'
}

/**
 * Tells the tool work of a conversation through a strategy, each call where it was. Old calls and their outputs give
 * way to one summary in the place of the first of them, and so does reasoning that led to nothing else than a call
 * that is no longer there. A call without an output is answered, behind the other outputs of its response, by an
 * output that says so; an output without a call becomes text. Everything else stays as it is. Takes one pass over the
 * items for each of a few steps.
 */
export function insertToolHistory(items: readonly InputItem[], options: InsertOptions = {}): InsertedHistory {
  const { strategy = new TextEmbedStrategy(), logger } = options
  const history = placeHistory(items, options)
  const { old, recent, config, countTokens } = history
  const summary = summaryOf(
    old.map(({ prior }) => prior),
    config,
    countTokens,
    options.summary ?? null,
  )
  const rendered = renderPlaced(items, history, strategy, summary)
  const unpaired = unpairedIn(items, history)
  for (const { callId, missing } of unpaired) {
    logger?.warn(`[ToolHistory] No ${missing} for the call id ${JSON.stringify(callId)}`)
  }
  logger?.trace(`[ToolHistory] Rendered ${rendered.length} items via ${strategy.name} strategy`)
  return {
    items: rendered,
    summary,
    truncatedCount: old.length,
    originalCount: old.length + recent.length,
    unpaired,
  }
}

function unpairedIn(
  items: readonly InputItem[],
  { old, recent, orphans }: PlacedHistory,
): readonly UnpairedItem[] {
  const calls = [...old, ...recent].flatMap(({ pair, prior }) =>
    pair.output === null ? [{ at: pair.callAt, callId: prior.callId, missing: 'output' } as const] : [],
  )
  const outputs = Array.from(orphans, (at) => {
    const item = items[at]
    const callId = item?.type === 'function_call_output' ? item.call_id : ''
    return { at, callId, missing: 'call' } as const
  })
  return [...calls, ...outputs]
    .sort((one, other) => one.at - other.at)
    .map(({ callId, missing }) => ({ callId, missing }))
}
