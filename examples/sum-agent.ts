import { agent, openResponses, tool } from 'loopchart'
import { z } from 'zod'

const add = tool({
  name: 'add',
  description: 'Add two numbers and return the sum.',
  inputSchema: z.object({ a: z.number(), b: z.number() }),
  needsApproval: ({ a, b }) => a + b > 100,
  execute: ({ a, b }) => a + b,
})

export const assistant = agent({
  model: openResponses({ model: 'scripted-1', baseUrl: 'http://127.0.0.1:8080/v1' }),
  instructions: 'You are good with numbers. Use the tools.',
  tools: [add],
  limits: { turns: 20 },
})
