import { agent, run, tool, type AgentOptions, type Run } from 'loopchart'
import { z } from 'zod'

import { recordedModel } from './recorded-model.ts'

const add = tool({
  name: 'add',
  description: 'Add two numbers and return the sum.',
  inputSchema: z.object({ a: z.number(), b: z.number() }),
  needsApproval: ({ a, b }) => a + b > 4,
  execute: ({ a, b }) => a + b,
})

function start(options: Partial<AgentOptions> = {}): Run {
  const model = recordedModel('text-then-call', 'text')
  return run(agent({ model, tools: [add], ...options }), 'what is 2+3?')
}

// A call that needs a yes waits for it, for as long as it takes.
const approved = start()
for await (const frame of approved) {
  if (frame.type !== 'approval_requested') continue
  console.log('asked:', frame.shown, 'in', approved.state)
  console.log('waits for:', approved.explain().waitsFor)
  console.log('approve:', (await approved.approve(frame.call_id)).answer)
}

// The text of the answer, as it is written. Readers can come late, and as often as they like.
for await (const text of approved.textStream()) console.log('text:', text)

// A denial is told to the model, with the reason. A command that makes no sense is refused, with the reason.
const denied = start()
for await (const frame of denied) {
  if (frame.type !== 'approval_requested') continue
  console.log('approve:', await denied.approve('call_9'))
  console.log('deny:', (await denied.deny(frame.call_id, 'add it up yourself')).answer)
}
console.log('calls:', (await denied.result).calls)

// What you say while it works goes with the next request; here there would have been none.
const steered = start({ model: recordedModel('text', 'text') })
console.log('steer:', (await steered.steer('in words, please')).answer)
console.log('turns:', (await steered.result).turns)

// A limit is checked before anything runs that it would make pointless.
const limited = await start({ limits: { turns: 1 } }).result
console.log('limited:', limited.state, limited.reason, limited.message, limited.unansweredCalls)

// Cancel stops whatever is going on. So does the `signal` option of run().
const cancelled = start()
console.log('cancel:', (await cancelled.cancel()).answer)
console.log('cancelled:', (await cancelled.result).state)
console.log('again:', cancelled.can({ type: 'run.cancel' }))
