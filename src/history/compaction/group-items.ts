import type { AnyItem } from '../../protocol/items.ts'
import { isFromCaller, textOf } from './item-text.ts'

/** Items that stay together: those from `from` on, up to but without `to`. */
export interface ItemGroup {
  readonly from: number
  readonly to: number
}

/** The items of a conversation in groups, and which outputs answer which calls. */
export interface GroupedItems {
  /** In order, without a gap. */
  readonly groups: readonly ItemGroup[]
  /** By the place of each answered call: the place of its output. */
  readonly outputs: ReadonlyMap<number, number>
}

/**
 * Groups items: a message that is not the model's is one, a `compaction` item is one, and so is what one response put
 * out with the outputs that answer it. Where an output comes late, all between it and its call is one group with them.
 */
export function groupItems(items: readonly AnyItem[]): GroupedItems {
  const starts = items.map((item, at) => isStart(item, items[at - 1]))
  const outputs = matchOutputs(items)
  // How far the calls before a place reach: no group may begin where one still waits for its output.
  let reach = -1
  let from = 0
  const groups: ItemGroup[] = []
  for (const at of items.keys()) {
    if (at > 0 && starts[at] === true && at > reach) {
      groups.push({ from, to: at })
      from = at
    }
    reach = Math.max(reach, outputs.get(at) ?? -1)
  }
  if (items.length > 0) groups.push({ from, to: items.length })
  return { groups, outputs }
}

function isStart(item: AnyItem, before: AnyItem | undefined): boolean {
  if (item.type === 'function_call_output') return false
  if (before === undefined || isFromCaller(before) || isOfNewResponse(item, before)) return true
  return item.type === 'compaction' || before.type === 'compaction'
}

function isOfNewResponse(item: AnyItem, before: AnyItem | undefined): boolean {
  const isOutput = item.type === 'function_call_output'
  return !isOutput && (before?.type === 'function_call_output' || isFromCaller(item))
}

/**
 * As a request pairs them: a call that is repeated within its response counts once, one that a later response repeats
 * before it was answered is never answered, and an output belongs to the newest call of its id that has none.
 */
function matchOutputs(items: readonly AnyItem[]): ReadonlyMap<number, number> {
  const outputs = new Map<number, number>()
  const open = new Map<string, { readonly at: number; readonly response: number }>()
  let response = 0
  for (const [at, item] of items.entries()) {
    if (isOfNewResponse(item, items[at - 1])) response += 1
    const callId = textOf(item, 'call_id')
    const call = open.get(callId)
    if (item.type === 'function_call' && call?.response !== response) open.set(callId, { at, response })
    else if (item.type === 'function_call_output' && call !== undefined) {
      open.delete(callId)
      outputs.set(call.at, at)
    }
  }
  return outputs
}
