import { agent, tool } from 'loopchart'
import { faultMatrix, scriptedModel } from 'loopchart/testing'
import { z } from 'zod'

const pay = tool({
  name: 'pay',
  description: 'Pay an amount to the supplier, in cents.',
  inputSchema: z.object({ amount: z.number().positive() }),
  needsApproval: true,
  execute: ({ amount }) => `paid ${amount}`,
})

const payer = agent({ model: scriptedModel([]), tools: [pay] })
const { cells, violations } = await faultMatrix(payer)
console.log('violations:', violations)
for (const { situation, fault, end, reason, toolCalls } of cells) {
  if (situation === 'the answer to pay, approved' && fault.startsWith('an e'))
    console.log(`${fault}: ${end}, ${reason}, ${toolCalls} calls`)
}
