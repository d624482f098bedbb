import { inputItems, type SentItems } from '../../../src/loop/input-items.ts'
import type { AnyItem, InputItem } from '../../../src/protocol/items.ts'
import { answerText } from './sample-run.ts'

/** A conversation sent from its start. */
export function whole(items: readonly AnyItem[], isStored = true): SentItems {
  return inputItems(items, { mode: 'stateless', isStored, answerText })
}

/** Items sent to a provider that has what came before. */
export function added(items: readonly AnyItem[]): SentItems {
  return inputItems(items, { mode: 'previous_response_id', isStored: true, answerText })
}

/** Type, call id and text of an item: what a conversation is, apart from how it is sent. */
export function logical(item: AnyItem | InputItem): readonly unknown[] {
  switch (item.type) {
    case 'function_call':
      return [item.type, item.call_id]
    case 'function_call_output':
      return [item.type, item.call_id, item.output]
    case 'message':
      return [item.type, JSON.stringify(item.content).replaceAll(',"logprobs":[]', '')]
    default:
      return [item.type]
  }
}

/** Whether every call has one output after it, and every output a call. */
export function isPaired(items: readonly InputItem[]): boolean {
  const open = new Set<string>()
  const seen = new Set<string>()
  for (const item of items) {
    if (item.type === 'function_call') {
      if (seen.has(item.call_id)) return false
      seen.add(item.call_id)
      open.add(item.call_id)
    }
    if (item.type === 'function_call_output' && !open.delete(item.call_id)) return false
  }
  return open.size === 0
}
