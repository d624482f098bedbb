import { addUsage } from '../../machines/call.rules.ts'
import type { TokenUsage } from '../../machines/loop.types.ts'
import { isJsonObject, type Json, type JsonObject } from '../protocol/json.ts'

/**
 * The tokens of one response under the names of Chat Completions, from usage under those names or under the
 * protocol's own. Null when no count is there to be read; a single count that cannot be read is 0. The total is
 * never less than its parts, because budgets are held against it.
 */
export function readUsage(raw: JsonObject | null): TokenUsage | null {
  if (!isJsonObject(raw)) return null
  const prompt = readCount(raw['input_tokens']) ?? readCount(raw['prompt_tokens'])
  const completion = readCount(raw['output_tokens']) ?? readCount(raw['completion_tokens'])
  const total = readCount(raw['total_tokens'])
  if (prompt === null && completion === null && total === null) return null
  return {
    prompt_tokens: prompt ?? 0,
    completion_tokens: completion ?? 0,
    total_tokens: Math.max(total ?? 0, (prompt ?? 0) + (completion ?? 0)),
    cached:
      readDetail(raw['input_tokens_details'], 'cached_tokens') ??
      readDetail(raw['prompt_tokens_details'], 'cached_tokens') ??
      0,
    reasoning:
      readDetail(raw['output_tokens_details'], 'reasoning_tokens') ??
      readDetail(raw['completion_tokens_details'], 'reasoning_tokens') ??
      0,
  }
}

function readDetail(details: Json | undefined, key: string): number | null {
  return isJsonObject(details) ? readCount(details[key]) : null
}

// Sums of safe integers stay finite; what JSON can spell beyond them would end as Infinity, which JSON cannot.
function readCount(value: Json | undefined): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null
}

/** Adds up what the runs of one call have used. */
export function sumUsage(sum: TokenUsage | null, more: TokenUsage): TokenUsage {
  return sum === null ? more : addUsage(sum, more)
}

const USAGE_FIELDS = ['prompt_tokens', 'completion_tokens', 'total_tokens', 'cached', 'reasoning'] as const

/** Whether a log has what a run used. */
export function isUsage(value: unknown): value is TokenUsage {
  if (typeof value !== 'object' || value === null) return false
  const fields = new Map<string, unknown>(Object.entries(value))
  return USAGE_FIELDS.every((field) => typeof fields.get(field) === 'number')
}
