import type { TokenUsage } from '../../../../machines/loop.types.ts'
import { isUsage, readUsage } from '../../../loop/usage.ts'
import { isJsonObject, type Json } from '../../../protocol/json.ts'

/** Tokens that a value of a frame counts, under the chart's names or a provider's; null when it counts none. */
export function usageIn(value: Json | undefined): TokenUsage | null {
  if (isUsage(value)) return value
  return isJsonObject(value) ? readUsage(value) : null
}
