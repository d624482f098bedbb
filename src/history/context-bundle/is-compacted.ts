import { strictRequestValidator } from '../../protocol/generated/strict-request.ts'
import type { InputItem } from '../../protocol/items.ts'
import { isJsonObject } from '../../protocol/json.ts'

/** Whether these are items that a provider may have made of others: some, and each as a request takes it. */
export function isCompacted(items: unknown): items is readonly InputItem[] {
  return (
    Array.isArray(items) &&
    items.length > 0 &&
    items.every((item: unknown) => isJsonObject(item) && typeof item['type'] === 'string') &&
    strictRequestValidator({ input: items })
  )
}
