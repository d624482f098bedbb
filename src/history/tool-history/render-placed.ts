import type { FunctionCallOutputItemParam } from '../../protocol/generated/openresponses.ts'
import type { InputItem } from '../../protocol/items.ts'
import { contextMessage } from './context-message.ts'
import { formatEntry } from './format-entry.ts'
import type { ItemPair } from './pair-items.ts'
import type { PlacedCall, PlacedHistory } from './place-history.ts'
import { readOutput } from './read-pair.ts'
import type { ToolHistoryStrategy } from './tool-history-strategy.ts'
import { withCallId } from './with-call-id.ts'

/** Puts what a strategy makes of each call, and the summary, in the place of the items that it is about. */
export function renderPlaced(
  items: readonly InputItem[],
  history: PlacedHistory,
  strategy: ToolHistoryStrategy,
  summary: string | null,
): readonly InputItem[] {
  const places = placesOf(history, strategy, summary)
  const withoutReasoning = vainReasoning(items, places)
  const rendered: InputItem[] = []
  let late: InputItem[] = []
  let wasOutput = false
  for (const [at, item] of items.entries()) {
    const isOutput = item.type === 'function_call_output'
    // The outputs of a response end here: those that were never recorded come behind the others.
    if (late.length > 0 && !isOutput && (wasOutput || item.type !== 'function_call')) {
      rendered.push(...late)
      late = []
    }
    wasOutput = isOutput
    if (withoutReasoning.has(at)) continue
    const place = places.get(at)
    if (place !== undefined) {
      rendered.push(...place.here)
      late.push(...place.late)
    } else if (isOutput && history.orphans.has(at)) {
      const { result, parts } = readOutput(item)
      rendered.push(contextMessage(result, parts))
    } else rendered.push(item)
  }
  return [...rendered, ...late]
}

/** What stands in the place of an item. */
interface Place {
  readonly here: readonly InputItem[]
  /** Comes behind the outputs that follow. */
  readonly late: readonly InputItem[]
}

const NOTHING: Place = { here: [], late: [] }

function placesOf(
  { old, recent }: PlacedHistory,
  strategy: ToolHistoryStrategy,
  summary: string | null,
): ReadonlyMap<number, Place> {
  const places = new Map<number, Place>()
  for (const { pair } of old) {
    const isFirst = places.size === 0
    const isSummary = isFirst && summary !== null
    places.set(pair.callAt, isSummary ? { here: strategy.renderSummary(summary), late: [] } : NOTHING)
    if (pair.outputAt !== null) places.set(pair.outputAt, NOTHING)
  }
  for (const call of recent) addRecent(places, call, strategy)
  return places
}

// A call goes where the call was, and the rest where its output was.
function addRecent(
  places: Map<number, Place>,
  { prior, pair }: PlacedCall,
  strategy: ToolHistoryStrategy,
): void {
  const rendered = strategy.renderEntry(formatEntry(prior))
  const calls: InputItem[] = []
  const rest: InputItem[] = []
  for (const item of rendered) {
    if (item.type === 'function_call') calls.push({ ...withCallId(pair.call, item.call_id), ...item })
    // What the strategy does not know of, as the item's own id, is kept.
    else if (item.type === 'function_call_output') rest.push({ ...outputUnder(pair, item.call_id), ...item })
    else rest.push(item)
  }
  if (pair.outputAt === null) places.set(pair.callAt, { here: calls, late: rest })
  else {
    places.set(pair.callAt, { here: calls, late: [] })
    places.set(pair.outputAt, { here: rest, late: [] })
  }
}

function outputUnder({ output }: ItemPair, callId: string): FunctionCallOutputItemParam | null {
  return output === null ? null : withCallId(output, callId)
}

/** The places of reasoning whose follower is a call that is not told as a call: providers refuse it alone. */
function vainReasoning(items: readonly InputItem[], places: ReadonlyMap<number, Place>): ReadonlySet<number> {
  const vain = new Set<number>()
  let isFollowerGone = false
  for (let at = items.length - 1; at >= 0; at -= 1) {
    const item = items[at]
    if (item?.type === 'reasoning') {
      if (isFollowerGone) vain.add(at)
    } else {
      const place = item?.type === 'function_call' ? places.get(at) : undefined
      isFollowerGone = place !== undefined && !place.here.some(({ type }) => type === 'function_call')
    }
  }
  return vain
}
