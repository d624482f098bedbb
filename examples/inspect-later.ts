import { agent, run } from 'loopchart'
import type { Frame } from 'loopchart/frames'
import { InspectionHub, inspectionOf, RunHistory } from 'loopchart/inspect'

import { recordedModel } from './recorded-model.ts'

const hub = new InspectionHub()
const assistant = agent({ model: recordedModel('text') })
const live = run(assistant, 'what is 2+3?', { inspect: hub.inspect })
await live.result

const late: string[] = []
hub.subscribe(({ type }) => late.push(type))
console.log('who comes late is told of', late[0], 'first and', late.at(-1), 'last')

const frames: Frame[] = []
for await (const frame of live) frames.push(frame)
console.log('the log gives as many events:', [...inspectionOf(frames)].length === late.length)

const history = new RunHistory()
history.add(frames)
const text = frames.find(({ type }) => type === 'output_text_delta')
console.log('when the first text came:', history.stepAt(text?.seq ?? 0)?.state)
