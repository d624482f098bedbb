import { agent, tool, type Agent, type Model } from 'loopchart'
import { z } from 'zod'

/** Where orders go. In tests, a list. */
export interface Shop {
  price(article: string): number | undefined
  order(article: string, pieces: number): void
}

/** An agent that buys things: looking up a price is free, an order needs a yes. */
export function createBuyer(model: Model, shop: Shop): Agent {
  const lookUpPrice = tool({
    name: 'look_up_price',
    description: 'Look up the price of an article, in cents.',
    inputSchema: z.object({ article: z.string() }),
    readOnly: true,
    execute: ({ article }) => shop.price(article) ?? 'there is no such article',
  })
  const order = tool({
    name: 'order',
    description: 'Order pieces of an article. Costs money.',
    inputSchema: z.object({ article: z.string(), pieces: z.number().int().positive() }),
    needsApproval: ({ pieces }) => pieces > 1,
    execute: ({ article, pieces }) => {
      shop.order(article, pieces)
      return { ordered: pieces }
    },
  })
  return agent({
    model,
    instructions: 'You buy what you are asked to buy.',
    tools: [lookUpPrice, order],
    limits: { turns: 10, ms: 60_000 },
    onLimit: 'wrap_up',
  })
}
