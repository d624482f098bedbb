import { agent, openResponses, run, tool } from 'loopchart'
import { startScriptedProvider } from 'loopchart/testing'
import { z } from 'zod'

const provider = await startScriptedProvider({
  v: 1,
  turns: [
    { output: [{ type: 'message', text: 'lost' }], fault: { type: 'truncate', at_byte: 100 } },
    { output: [{ type: 'function_call', name: 'add', arguments: { a: 2, b: 3 }, call_id: 'call_1' }] },
    { output: [{ type: 'message', text: 'It is 5.' }], usage: { input_tokens: 20, output_tokens: 4 } },
  ],
})

const add = tool({
  name: 'add',
  description: 'Add two numbers and return the sum.',
  inputSchema: z.object({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => a + b,
})

const model = openResponses({ model: 'any', baseUrl: provider.url, apiKey: 'none' })
const live = run(agent({ model, tools: [add], retry: { waitMs: 1 } }), 'what is 2+3?')
for await (const frame of live) if (frame.type === 'retry_scheduled') console.log('again:', frame.cause)
console.log('text:', (await live.result).text)
console.log('requests:', provider.requests.length)

// It is as strict as real providers are: a call without its output cannot be left behind.
const body = { model: 'any', previous_response_id: 'resp_2', input: 'never mind' }
const refused = await fetch(`${provider.url}/responses`, { method: 'POST', body: JSON.stringify(body) })
console.log(refused.status, await refused.json())
await provider.close()
