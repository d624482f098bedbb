import type { AnyItem } from '../protocol/items.ts'
import type { AssembledCall, AssembledResponse } from '../stream/assemble-response.ts'
import type { ToolPort } from './tool-port.ts'

/**
 * The items and calls of a response, with every item that a tool claims turned into the call that it stands for.
 * Items of other types are the provider's own business until somebody claims them. In the conversation a claimed item
 * is a `function_call` from here on, so that its output has a partner; the log has it as it came.
 */
export function promoteItems(
  { claim }: ToolPort,
  response: AssembledResponse,
): Pick<AssembledResponse, 'items' | 'calls'> {
  const { items, calls, status } = response
  // Each function_call has its call: there are no other items that somebody could claim.
  if (items.length === calls.length) return response
  const promoted: AssembledCall[] = []
  const waiting = [...calls]
  const kept = items.map((item, outputIndex): AnyItem => {
    if (item.type === 'function_call') {
      const call = waiting.shift()
      if (call !== undefined) promoted.push({ ...call, slot: promoted.length })
      return item
    }
    const claimed = claim(item)
    const callId = textOf(item['call_id']) ?? textOf(item['id'])
    // Without an id there is nothing that an answer could name.
    if (claimed === null || callId === null) return item
    const isRepeated = promoted.some((call) => call.callId === callId)
    const disposition = status !== 'completed' ? 'truncated' : isRepeated ? 'duplicate' : 'ready'
    const itemId = textOf(item['id'])
    promoted.push({ slot: promoted.length, outputIndex, itemId, callId, ...claimed, disposition })
    return { type: 'function_call', ...(itemId === null ? {} : { id: itemId }), call_id: callId, ...claimed }
  })
  return { items: kept, calls: promoted }
}

function textOf(value: AnyItem[string]): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}
