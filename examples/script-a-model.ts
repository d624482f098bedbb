import { agent, run, tool } from 'loopchart'
import { assistantMessage, functionCall, modelError, scriptedModel, SimulatedClock } from 'loopchart/testing'
import { z } from 'zod'

const add = tool({
  name: 'add',
  description: 'Add two numbers and return the sum.',
  inputSchema: z.object({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => a + b,
})

const clock = new SimulatedClock()
const model = scriptedModel(
  [
    modelError(429, { headers: { 'retry-after': '30' } }),
    [assistantMessage('Let me add.'), functionCall('add', { a: 2, b: 3 })],
    ({ input }) => assistantMessage(`You sent ${JSON.stringify(input)}.`),
  ],
  { clock },
)

const live = run(agent({ model, tools: [add], clock }), 'what is 2+3?')
for await (const frame of live) {
  if (frame.type !== 'retry_scheduled') continue
  await new Promise(setImmediate) // the timer is set once the frame is out
  console.log(
    'waits:',
    clock.armed.map((at) => at - clock.now()),
  )
  clock.advance(30_000)
}
console.log((await live.result).text)
console.log('requests:', model.requests.length)
model.assertComplete()
