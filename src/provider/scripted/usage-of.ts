import type { Usage } from '../../protocol/generated/openresponses.ts'
import type { OutputItem } from '../../protocol/items.ts'
import type { CreateResponseBody } from '../../protocol/requests.ts'
import type { ScriptTurn } from './script.ts'

// About what it is for English; it only has to grow with the text.
const CHARACTERS_PER_TOKEN = 4

/** What a response has used: as the turn says, or an estimate. */
export function usageOf(
  { usage }: Pick<ScriptTurn, 'usage'>,
  { input }: Pick<CreateResponseBody, 'input'>,
  output: readonly OutputItem[],
): Usage {
  const input_tokens = usage?.input_tokens ?? estimate(input ?? '')
  const output_tokens = usage?.output_tokens ?? estimate(output)
  return {
    input_tokens,
    output_tokens,
    total_tokens: input_tokens + output_tokens,
    input_tokens_details: { cached_tokens: usage?.cached_tokens ?? 0 },
    output_tokens_details: { reasoning_tokens: usage?.reasoning_tokens ?? 0 },
  }
}

function estimate(value: unknown): number {
  return Math.ceil(JSON.stringify(value).length / CHARACTERS_PER_TOKEN)
}
