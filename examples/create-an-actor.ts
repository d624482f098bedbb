import { agent, tool } from 'loopchart'
import { loopInput, provideLoop } from 'loopchart/machine'
import { createActor, toPromise } from 'xstate'
import { z } from 'zod'

import { recordedModel } from './recorded-model.ts'

const add = tool({
  name: 'add',
  description: 'Add two numbers and return the sum.',
  inputSchema: z.object({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => a + b,
})
const assistant = agent({ model: recordedModel('text-then-call', 'text'), tools: [add] })

const machine = provideLoop(assistant, {
  runId: 'run_1',
  onFrame: (frame) => {
    if (frame.type === 'output_text_delta') console.log('text:', frame.delta)
  },
})
const actor = createActor(machine, {
  input: loopInput(assistant, 'what is 2+3?'),
  inspect: (seen) => {
    if (seen.type === '@xstate.event' && seen.actorRef === actor) console.log('event:', seen.event.type)
  },
})
actor.subscribe(({ value }) => console.log('state:', JSON.stringify(value)))
actor.on('batch_planned', ({ slots }) => console.log('calls that run now:', slots))
actor.start()

const { state, text, usage } = await toPromise(actor)
console.log(state, JSON.stringify(text), usage.total_tokens)
