import type { TokenUsage } from '../../machines/loop.types.ts'
import type { Prices } from './conversation-api.ts'

const TOKENS_PER_PRICE = 1_000_000

/** What tokens cost; null without prices. What the provider had in its cache is part of the input. */
export function costOf(usage: TokenUsage, prices: Prices | null): number | null {
  if (prices === null) return null
  const { input, output, cachedInput = input } = prices
  const cached = Math.min(usage.cached, usage.prompt_tokens)
  const fresh = usage.prompt_tokens - cached
  return (fresh * input + cached * cachedInput + usage.completion_tokens * output) / TOKENS_PER_PRICE
}
