import { agent, run, tool } from 'loopchart'
import { z } from 'zod'

import { recordedModel } from './recorded-model.ts'

const add = tool({
  name: 'add',
  description: 'Add two numbers and return the sum.',
  inputSchema: z.object({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => a + b,
})

const assistant = agent({
  model: recordedModel('text-then-call', 'text'), // stands in for a provider
  instructions: 'You are good with numbers. Use the tools.',
  tools: [add],
  limits: { turns: 20 },
})

const live = run(assistant, 'what is 2+3?')
for await (const frame of live) if (frame.type === 'state_entered') console.log(frame.state)
const { state, reason, text, calls, usage } = await live.result
console.log(state, reason, JSON.stringify(text), calls, usage.total_tokens)
