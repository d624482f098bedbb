import { agent, openResponses, run } from 'loopchart'
import { startScriptedProvider } from 'loopchart/testing'

const provider = await startScriptedProvider({
  v: 1,
  turns: [{ output: [{ type: 'message', text: 'Here I am.' }] }],
})
const gone = await startScriptedProvider({ v: 1, turns: [] })
await gone.close()
const models = [
  openResponses({ model: 'first', baseUrl: gone.url }), // nobody is there
  openResponses({ model: 'second', baseUrl: provider.url }),
]

const live = run(agent({ model: models, retry: { times: 0 } }), 'Is anybody there?')
for await (const frame of live) {
  if (frame.type === 'provider_switched') console.log(frame.cause, frame.figures)
}
console.log((await live.result).text)
await provider.close()

const busy = await startScriptedProvider({
  v: 1,
  turns: [{ fault: { type: 'status', status: 429, headers: { 'retry-after': '3600' } } }],
})
const result = await run(
  agent({ model: openResponses({ model: 'busy', baseUrl: busy.url }) }),
  'Is anybody there?',
).result
console.log(result.status, result.state, result.reason)
if (result.status === 'suspended')
  console.log('in minutes:', Math.round(((result.retryAt ?? 0) - Date.now()) / 60_000))
await busy.close()
