import { agent, openResponses, run, tool } from 'loopchart'
import { startScriptedProvider } from 'loopchart/testing'
import { z } from 'zod'

const add = tool({
  name: 'add',
  description: 'Add two numbers and return the sum.',
  inputSchema: z.object({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => a + b,
})
const call = { type: 'function_call', name: 'add', arguments: { a: 2, b: 3 }, call_id: 'call_1' } as const
const answer = { type: 'message', text: 'The sum is 5.' } as const
const provider = await startScriptedProvider({ v: 1, turns: [{ output: [call] }, { output: [answer] }] })
const model = openResponses({ model: 'gpt-5.2', baseUrl: provider.url }) // without baseUrl: OpenAI
const live = run(agent({ model, tools: [add], limits: { turns: 20 } }), 'what is 2+3?')
for await (const frame of live) if (frame.type === 'state_entered') console.log(frame.state)
const { state, reason, text, calls } = await live.result
console.log(state, reason, JSON.stringify(text), calls)
await provider.close()
