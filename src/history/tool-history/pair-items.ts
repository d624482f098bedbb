import type {
  FunctionCallItemParam,
  FunctionCallOutputItemParam,
} from '../../protocol/generated/openresponses.ts'
import type { InputItem } from '../../protocol/items.ts'

/** A call among other items, and its output. */
export interface ItemPair {
  readonly call: FunctionCallItemParam
  readonly callAt: number
  readonly output: FunctionCallOutputItemParam | null
  /** Null when the call has no output. */
  readonly outputAt: number | null
}

/** What belongs together among the items of a conversation. */
export interface PairedItems {
  /** In the order of the calls. */
  readonly pairs: readonly ItemPair[]
  /** The places of outputs that no call before them asked for. */
  readonly orphans: ReadonlySet<number>
}

/**
 * Finds each call's output by its call id, in one pass. An id that is used again belongs to the oldest call that has
 * no output yet; an output that comes before its call, or is a second one, belongs to none.
 */
export function pairItems(items: readonly InputItem[]): PairedItems {
  const pairs: Mutable<ItemPair>[] = []
  const orphans = new Set<number>()
  const open = new Map<string, WaitingCalls>()
  for (const [at, item] of items.entries()) {
    if (item.type === 'function_call') {
      const pair = { call: item, callAt: at, output: null, outputAt: null }
      pairs.push(pair)
      const waiting = open.get(item.call_id)
      if (waiting === undefined) open.set(item.call_id, { calls: [pair], taken: 0 })
      else waiting.calls.push(pair)
    } else if (item.type === 'function_call_output') {
      const pair = takeOldest(open, item.call_id)
      if (pair === undefined) orphans.add(at)
      else {
        pair.output = item
        pair.outputAt = at
      }
    }
  }
  return { pairs, orphans }
}

type Mutable<Value> = { -readonly [Key in keyof Value]: Value[Key] }

/** First in, first out. Does not shift its array: that would make many calls with one id slow. */
interface WaitingCalls {
  readonly calls: Mutable<ItemPair>[]
  taken: number
}

function takeOldest(open: Map<string, WaitingCalls>, callId: string): Mutable<ItemPair> | undefined {
  const waiting = open.get(callId)
  if (waiting === undefined) return undefined
  const pair = waiting.calls[waiting.taken]
  waiting.taken += 1
  // Only what still waits is held, so the map stays small however long the conversation is.
  if (waiting.taken === waiting.calls.length) open.delete(callId)
  return pair
}
