import type { AnyItem } from '../protocol/items.ts'
import { contradiction } from './compare-sources.ts'
import { readText, typedKey, type OpenItem } from './open-item.ts'

/** What the terminal response's `output` says about the items that were streamed. */
export interface TerminalMatch {
  /** For each streamed item, in their order, what the terminal response has for it; null: nothing. */
  readonly terminals: readonly (AnyItem | null)[]
  /** Items that only the terminal response has, with their place in it. */
  readonly recovered: readonly { readonly item: AnyItem; readonly outputIndex: number }[]
  /** Where the two cannot both be true of one call. */
  readonly contradictions: readonly string[]
}

/**
 * Pairs streamed items with those of the terminal response, surest sign first: call id, then item id, then place,
 * then order among items of one type. Ids may differ between stream and terminal response (seen in gateways), and
 * the place may shift when a gateway leaves items out.
 */
export function matchTerminal(
  streamed: readonly OpenItem[],
  output: readonly (AnyItem | null)[],
): TerminalMatch {
  if (isSameThroughout(streamed, output)) {
    return { terminals: output, recovered: NONE, contradictions: contradictionsOf(streamed, output) }
  }
  const terminalOf = new Map<OpenItem, AnyItem>()
  const claimed = new Set<number>()
  const signs = [callSign, idSign, placeSign, typeSign]
  for (const sign of signs) {
    // Mostly the first sign has paired them all.
    if (terminalOf.size === streamed.length || claimed.size === output.length) break
    pairBy(sign, streamed, output, terminalOf, claimed)
  }
  const terminals = streamed.map((item) => terminalOf.get(item) ?? null)
  const contradictions = contradictionsOf(streamed, terminals)
  const lonely = streamed.find((item) => item.type === 'function_call' && !terminalOf.has(item))
  const recovered: { item: AnyItem; outputIndex: number }[] = []
  output.forEach((item, outputIndex) => {
    if (item === null || claimed.has(outputIndex)) return
    // A call that only the stream has and one that only the terminal response has may well be one call under two
    // ids: running both would run it twice.
    if (item.type === 'function_call' && lonely !== undefined) {
      contradictions.push(
        `call_id ${lonely.callId} then ${readText(item, 'call_id')} at output_index ${outputIndex}`,
      )
    } else {
      recovered.push({ item, outputIndex })
    }
  })
  return { terminals, recovered, contradictions }
}

const NONE: readonly never[] = []

function contradictionsOf(streamed: readonly OpenItem[], terminals: readonly (AnyItem | null)[]): string[] {
  const contradictions: string[] = []
  streamed.forEach((item, at) => {
    const terminal = terminals[at] ?? null
    const reason = terminal === null ? null : contradiction(item, terminal)
    if (reason !== null) contradictions.push(`${reason} at output_index ${item.outputIndex}`)
  })
  return contradictions
}

/** Whether item for item the two have the same type and the same ids, as nearly always: there is nothing to look for. */
function isSameThroughout(streamed: readonly OpenItem[], output: readonly (AnyItem | null)[]): boolean {
  return (
    streamed.length === output.length &&
    streamed.every((item, at) => {
      const told = output[at]
      if (told == null || told.type !== item.type) return false
      const callId = readText(told, 'call_id')
      return callId === item.callId && (callId !== null || sameId(item.itemId, readText(told, 'id')))
    })
  )
}

function sameId(one: string | null, other: string | null): boolean {
  return one !== null && one === other
}

interface Sight {
  readonly type: string
  readonly callId: string | null
  readonly id: string | null
  readonly outputIndex: number
}
type Sign = (sight: Sight) => string | null

const callSign: Sign = ({ type, callId }) => (callId === null ? null : typedKey(type, callId))
const idSign: Sign = ({ type, id }) => (id === null ? null : typedKey(type, id))
const placeSign: Sign = ({ type, outputIndex }) => `${type} ${outputIndex}`
const typeSign: Sign = ({ type }) => type

function pairBy(
  sign: Sign,
  streamed: readonly OpenItem[],
  output: readonly (AnyItem | null)[],
  terminalOf: Map<OpenItem, AnyItem>,
  claimed: Set<number>,
): void {
  const waiting = new Map<string, Waiting>()
  for (const item of streamed) {
    if (terminalOf.has(item)) continue
    const key = sign({ type: item.type, callId: item.callId, id: item.itemId, outputIndex: item.outputIndex })
    if (key === null) continue
    const queues = waiting.get(key) ?? { named: new Queue(), unnamed: new Queue() }
    waiting.set(key, queues)
    ;(item.callId === null ? queues.unnamed : queues.named).add(item)
  }
  output.forEach((item, outputIndex) => {
    if (item === null || claimed.has(outputIndex)) return
    const callId = readText(item, 'call_id')
    const key = sign({ type: item.type, callId, id: readText(item, 'id'), outputIndex })
    const queues = key === null ? undefined : waiting.get(key)
    // Two calls with two ids are two calls, whatever else they share; equal ids were paired by that sign.
    const found =
      sign === callSign || callId === null
        ? (queues?.named.take() ?? queues?.unnamed.take())
        : queues?.unnamed.take()
    if (found === undefined) return
    terminalOf.set(found, item)
    claimed.add(outputIndex)
  })
}

interface Waiting {
  readonly named: Queue
  readonly unnamed: Queue
}

/** First in, first out, each in constant time: how many items there are is the provider's to say. */
class Queue {
  readonly #items: OpenItem[] = []
  #head = 0

  add(item: OpenItem): void {
    this.#items.push(item)
  }

  take(): OpenItem | undefined {
    const item = this.#items[this.#head]
    if (item !== undefined) this.#head += 1
    return item
  }
}
