import type {
  FunctionCallItemParam,
  FunctionCallOutputItemParam,
} from '../../protocol/generated/openresponses.ts'

/**
 * A call or an output under a call id. An id of the item itself that was made from its call id follows it: providers
 * refuse a request in which two items have one id.
 */
export function withCallId<Item extends FunctionCallItemParam | FunctionCallOutputItemParam>(
  item: Item,
  callId: string,
): Item {
  if (item.call_id === callId) return item
  const made = ['fc_', 'output_'].find((prefix) => item.id === prefix + item.call_id)
  return { ...item, call_id: callId, ...(made === undefined ? {} : { id: made + callId }) }
}
