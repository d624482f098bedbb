import type { ConversationOptions } from '../conversation/conversation-api.ts'
import { LoopchartError } from '../errors.ts'
import type { RunStore } from '../journal/run-store.ts'
import type { Config } from './config-file.ts'

/** What settings say about a conversation. Throws `usage` where a budget cannot be kept to. */
export function conversationOptions(config: Config, id: string, store: RunStore): ConversationOptions {
  const { prices, budget = {}, compact_way: way, cross_run_cursor: usesCursor } = config
  if (budget.cost !== undefined && prices === undefined) {
    throw new LoopchartError('usage', 'a budget of cost needs prices: give --price, or a budget of tokens')
  }
  return {
    id,
    store,
    origin: 'loopchart cli',
    ...(usesCursor === true ? { crossRunCursor: 'use' } : {}),
    ...(way === undefined ? {} : { compaction: { way } }),
    ...(prices === undefined ? {} : { prices: pricesOf(prices) }),
    budget: {
      ...(budget.tokens === undefined ? {} : { tokens: budget.tokens }),
      ...(budget.cost === undefined ? {} : { cost: budget.cost }),
    },
  }
}

function pricesOf({
  input,
  cached,
  output,
}: NonNullable<Config['prices']>): NonNullable<ConversationOptions['prices']> {
  return { input, output, ...(cached === undefined ? {} : { cachedInput: cached }) }
}
