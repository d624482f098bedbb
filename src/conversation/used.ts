import type { TokenUsage } from '../../machines/loop.types.ts'
import { plain } from '../loop/decisions.ts'
import type { JsonObject } from '../protocol/json.ts'
import type { Prices } from './conversation-api.ts'
import { costOf } from './cost-of.ts'

/** Tokens and what they cost, for figures that count. */
export function used(usage: TokenUsage, prices: Prices | null): JsonObject {
  return { usage: plain(usage), cost: costOf(usage, prices) }
}
