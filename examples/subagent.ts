import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { agent, openStore, run, tool } from 'loopchart'
import { assistantMessage, functionCall, scriptedModel } from 'loopchart/testing'
import { z } from 'zod'

const refund = tool({
  name: 'refund',
  description: 'Pay the price of an order back.',
  inputSchema: z.object({ order: z.number().int().describe('The number of the order.') }),
  needsApproval: true,
  preview: ({ order }) => `pay order ${order} back`,
  execute: ({ order }) => `order ${order} was paid back`,
})
const clerk = agent({
  model: scriptedModel([
    functionCall('refund', { order: 7 }, 'call_r'),
    assistantMessage('Order 7 is paid back.'),
  ]),
  tools: [refund],
  limits: { turns: 5 },
})
const desk = agent({
  model: scriptedModel([
    functionCall('ask_clerk', { input: 'Refund order 7.' }, 'call_c'),
    assistantMessage('Your money is on its way.'),
  ]),
  tools: [clerk.asTool({ name: 'ask_clerk', description: 'Ask the clerk for payments to do something.' })],
  limits: { tokens: 10_000 },
})

const folder = mkdtempSync(join(tmpdir(), 'desk-'))
const store = openStore(join(folder, 'runs.db'))
const live = run(desk, 'I want my money back for order 7.', { store, runId: 'desk-1' })
for await (const frame of live) {
  if (frame.type === 'child_started') console.log(frame.call_id, 'is the run', frame.child_run_id)
  if (frame.type !== 'approval_requested') continue
  console.log(frame.path, frame.shown)
  console.log('in', live.state, 'approve:', (await live.approve(frame.path)).answer)
}
const { text, calls } = await live.result
console.log(JSON.stringify(text), calls)

for (const frame of store.read('desk-1.1.0')) {
  if (frame.type === 'run_started')
    console.log('belongs to', frame.parent, 'with', frame.limits['tokens'], 'tokens')
  if (frame.type === 'run_ended') console.log('ended as', frame.state, JSON.stringify(frame.text))
}
store.close()
rmSync(folder, { recursive: true })
