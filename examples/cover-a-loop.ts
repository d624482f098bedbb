import { agent, tool } from 'loopchart'
import { coverLoop, scriptedModel } from 'loopchart/testing'
import { z } from 'zod'

const pay = tool({
  name: 'pay',
  description: 'Pay an amount to the supplier, in cents.',
  inputSchema: z.object({ amount: z.number().positive() }),
  needsApproval: ({ amount }) => amount > 1000,
  execute: ({ amount }) => `paid ${amount}`,
})

const payer = agent({ model: scriptedModel([]), tools: [pay], limits: { turns: 5 }, retry: { times: 1 } })

const { states, guards, violations, left } = await coverLoop(payer, {
  samples: { pay: [{ amount: 10 }, { amount: 5000 }] },
})
console.log('states:', states.covered.length, 'missing:', states.missing, 'unreachable:', states.unreachable)
console.log('guards:', guards.covered.length, 'missing:', guards.missing)
for (const { name, because } of guards.unreachable) console.log(`  ${name}: ${because}`)
console.log('violations:', violations, 'left:', left)
