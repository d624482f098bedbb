import { z } from 'zod'

import { instructions, lintTools, tool, toolResult } from 'loopchart/tools'

const stock = new Map([['apple', 3]])

const countStock = tool({
  name: 'count_stock',
  description: 'Count how many pieces of an article are in stock.',
  inputSchema: z.object({ article: z.string().describe('The singular name, such as apple.') }),
  readOnly: true,
  execute: ({ article }) => stock.get(article) ?? 0,
})

const orderArticle = tool({
  name: 'order_article',
  description: 'Order pieces of an article from the supplier. Costs money.',
  inputSchema: z.object({
    article: z.string().describe('The singular name, such as apple.'),
    pieces: z.number().int().positive().describe('How many to order.'),
  }),
  needsApproval: ({ pieces }) => pieces > 10,
  conflicts: ({ article }) => [`stock/${article}`],
  timeoutMs: 30_000,
  execute: async ({ article, pieces }, { signal, key, onOutput }) => {
    signal.throwIfAborted()
    onOutput('stdout', `ordering with idempotency key ${key}\n`)
    if (article === 'unicorn') return toolResult({ stderr: 'no supplier has unicorns', exitCode: 1 })
    stock.set(article, (stock.get(article) ?? 0) + pieces)
    return { article, pieces: stock.get(article) }
  },
})

console.log(JSON.stringify(countStock.parameters))
for (const { tool: name, message } of lintTools([countStock, orderArticle])) console.log(name, message)
console.log(instructions({ role: 'You keep the stock of a small shop.' }).split('\n').slice(0, 2).join('\n'))
