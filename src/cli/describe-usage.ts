import type { TokenUsage } from '../../machines/loop.types.ts'
import { countOf } from './run-figures.ts'

/** `1,234 tokens (1000 in with 800 cached, 234 out with 100 reasoning)`; what is 0 of the details is left out. */
export function describeTokens(usage: TokenUsage): string {
  const { prompt_tokens: input, completion_tokens: output, total_tokens: total, cached, reasoning } = usage
  const ofInput = cached === 0 ? '' : ` with ${cached} cached`
  const ofOutput = reasoning === 0 ? '' : ` with ${reasoning} reasoning`
  return `${countOf(total, 'token')} (${input} in${ofInput}, ${output} out${ofOutput})`
}

/** What was used between two counts. */
export function usageSince(before: TokenUsage, after: TokenUsage): TokenUsage {
  return {
    prompt_tokens: after.prompt_tokens - before.prompt_tokens,
    completion_tokens: after.completion_tokens - before.completion_tokens,
    total_tokens: after.total_tokens - before.total_tokens,
    cached: after.cached - before.cached,
    reasoning: after.reasoning - before.reasoning,
  }
}

const COST = new Intl.NumberFormat('en', { minimumSignificantDigits: 1, maximumSignificantDigits: 4 })

/** `cost 0.01234`, in the currency of the prices. */
export function describeCost(cost: number): string {
  return `cost ${COST.format(cost)}`
}
