import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

import { agent, listModels, openResponses, run, tool } from 'loopchart'
import { z } from 'zod'

// Stands in for a provider: busy at first, then it answers with recorded streams.
const streams = await Promise.all(
  ['text-then-call', 'text'].map((name) =>
    readFile(new URL(`../fixtures/streams/${name}.sse`, import.meta.url)),
  ),
)
let requests = 0
const server = createServer((request, response) => {
  if (request.url === '/v1/models') {
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"data":[{"id":"recorded-1"}]}')
  } else if (requests++ === 0) {
    response.writeHead(429, { 'retry-after-ms': '20' }).end('{"error":{"message":"slow down"}}')
  } else {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(streams.shift())
  }
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`

const model = openResponses({ model: 'recorded-1', baseUrl, timeouts: { idleMs: 30_000 } })
console.log('models:', await listModels({ baseUrl }))
console.log('taken for:', model.profile, '- continues by id:', model.canContinueById)

const add = tool({
  name: 'add',
  description: 'Add two numbers and return the sum.',
  inputSchema: z.object({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => a + b,
})
const live = run(agent({ model, tools: [add] }), 'what is 2+3?')
for await (const frame of live) {
  if (frame.type === 'response_headers') console.log('status:', frame.status)
  if (frame.type === 'retry_scheduled') console.log('again because of:', frame.cause)
}
console.log('text:', (await live.result).text)

// What cannot work throws at once, and never shows a key.
try {
  openResponses({ model: 'recorded-1', baseUrl, apiKey: 'sk-secret\n' })
} catch (error) {
  console.log(String(error))
}
server.closeAllConnections()
server.close()
