import { agent, run, tool } from 'loopchart'
import { z } from 'zod'

import { recordedModel } from './recorded-model.ts'

const add = tool({
  name: 'add',
  description: 'Add two numbers and return the sum.',
  inputSchema: z.object({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => a + b,
})
const assistant = agent({ model: recordedModel('text-then-call', 'text'), tools: [add] })

const { result } = run(assistant, 'what is 2+3?', {
  inspect: (event) => {
    switch (event.type) {
      case '@xstate.actor':
        return console.log('a run of', event.name)
      case '@xstate.event':
        return console.log(event.event.type)
      case '@loopchart.microstep':
        return console.log('  takes', event.transitions.length, 'transitions')
      case '@xstate.snapshot':
        return console.log('  and is in', JSON.stringify(event.snapshot.value))
    }
  },
})
const { state } = await result
console.log(state)
