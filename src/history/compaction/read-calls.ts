import type { AnyItem } from '../../protocol/items.ts'
import type { PriorCall } from '../tool-history/prior-call.ts'
import { isFailedEnvelope } from '../tool-history/read-pair.ts'
import { groupItems } from './group-items.ts'
import { outputText, textOf } from './item-text.ts'

/** A call, and the place of its item. */
export interface CallAt {
  readonly at: number
  readonly call: PriorCall
}

const NO_CALLS: ReadonlySet<string> = new Set([
  'message',
  'reasoning',
  'compaction',
  'item_reference',
  'function_call_output',
])

/**
 * The calls among items, in order, each with what came of it. What a provider did itself, as a search, is a call
 * too, by the name of its type.
 */
export function readCalls(items: readonly AnyItem[]): readonly CallAt[] {
  const { outputs } = groupItems(items)
  return items.flatMap((item, at) => {
    if (NO_CALLS.has(item.type)) return []
    const outputAt = outputs.get(at)
    const output = outputAt === undefined ? undefined : items[outputAt]
    return [{ at, call: item.type === 'function_call' ? ownCall(item, output) : hostedCall(item) }]
  })
}

function ownCall(item: AnyItem, output: AnyItem | undefined): PriorCall {
  const name = textOf(item, 'name')
  const result =
    output === undefined ? `No output was recorded for this call of ${name}.` : outputText(output)
  const isError = output === undefined || didNotRun(output) || isFailedEnvelope(result)
  const callId = textOf(item, 'call_id')
  return {
    callId,
    sentCallId: callId,
    name,
    argumentsText: textOf(item, 'arguments'),
    result,
    isError,
    parts: null,
  }
}

function didNotRun({ output = null, outcome }: AnyItem): boolean {
  return output === null && outcome !== 'ok'
}

function hostedCall(item: AnyItem): PriorCall {
  const isError = item['status'] === 'failed'
  const id = textOf(item, 'id')
  return {
    callId: id,
    sentCallId: id,
    name: item.type,
    argumentsText: '{}',
    result: isError ? 'failed' : '',
    isError,
    parts: null,
  }
}
