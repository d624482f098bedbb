import type {
  AssistantMessageItemParam,
  FunctionCallItemParam,
  FunctionCallOutputItemParam,
  ReasoningItemParam,
} from '../../protocol/generated/openresponses.ts'
import { strictRequestValidator } from '../../protocol/generated/strict-request.ts'
import { isJsonObject } from '../../protocol/json.ts'

/** An item of a run's work with tools, as a request takes it; the messages are what the model said beside its calls. */
export type ToolWorkItem =
  | ReasoningItemParam
  | AssistantMessageItemParam
  | FunctionCallItemParam
  | FunctionCallOutputItemParam

/**
 * Whether these items can be sent as they are: each fits the protocol, each call has one output behind it, no
 * output is without its call, and every reasoning item is followed by what came of it. Providers refuse a request
 * over any of these.
 */
export function isWholeGroup(items: unknown): items is readonly ToolWorkItem[] {
  return isToolWork(items) && isPaired(items) && isReasoningFollowed(items)
}

const TYPES: ReadonlySet<unknown> = new Set(['reasoning', 'message', 'function_call', 'function_call_output'])

function isToolWork(items: unknown): items is readonly ToolWorkItem[] {
  return Array.isArray(items) && items.every(isOfModelOrTool) && strictRequestValidator({ input: items })
}

function isOfModelOrTool(item: unknown): boolean {
  if (!isJsonObject(item) || !TYPES.has(item['type'])) return false
  return item['type'] !== 'message' || item['role'] === 'assistant'
}

function isPaired(items: readonly ToolWorkItem[]): boolean {
  const seen = new Set<string>()
  const open = new Set<string>()
  for (const item of items) {
    switch (item.type) {
      case 'function_call':
        if (seen.has(item.call_id)) return false
        seen.add(item.call_id)
        open.add(item.call_id)
        break
      case 'function_call_output':
        if (!open.delete(item.call_id)) return false
        break
      case 'reasoning':
      case 'message':
        break
    }
  }
  return seen.size > 0 && open.size === 0
}

function isReasoningFollowed(items: readonly ToolWorkItem[]): boolean {
  return items.every((item, index) => {
    const next = items[index + 1]
    return item.type !== 'reasoning' || (next !== undefined && next.type !== 'function_call_output')
  })
}
