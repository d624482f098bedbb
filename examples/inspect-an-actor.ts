import { agent } from 'loopchart'
import { loopInput, provideLoop } from 'loopchart/machine'
import { createActor, toPromise } from 'xstate'

import { recordedModel } from './recorded-model.ts'

const assistant = agent({ model: recordedModel('text') })
const machine = provideLoop(assistant, {
  runId: 'run_1',
  inspect: (event) => {
    if (event.type === '@loopchart.microstep') console.log(event.transitions.join(' | '))
  },
})
const actor = createActor(machine, { input: loopInput(assistant, 'what is 2+3?') })
const { state } = await toPromise(actor.start())
console.log(state)
