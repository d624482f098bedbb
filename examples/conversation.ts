import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { agent, conversation } from 'loopchart'
import { assistantMessage, scriptedModel } from 'loopchart/testing'

const store = join(mkdtempSync(join(tmpdir(), 'loopchart-')), 'runs.db')
const model = scriptedModel([
  assistantMessage('Hello Ada.'),
  assistantMessage(['You are ', 'Ada.']),
  ({ input }) => assistantMessage(`You have sent ${input?.length} items.`),
])
const assistant = agent({ model, instructions: 'Be brief.' })

const talk = conversation(assistant, { store, id: 'ada' })
const result = await talk.send('I am Ada.')
console.log(result.status === 'refused' ? result.message : result.text)
await talk.close()

// Another process, a week later.
const again = conversation(assistant, { store, id: 'ada', prices: { input: 1.25, output: 10 } })
const turn = again.send('Who am I?')
const waiting = again.send('And how much have I sent?')
console.log(turn.receipt.answer, waiting.receipt.answer)
for await (const text of turn.textStream()) console.log(JSON.stringify(text))
await waiting

const forked = await again.fork({ at: 1 })
console.log(forked.entries.map((entry) => entry.type))
const { messages, runs, cached, reasoning } = again.usage
console.log({ messages, runs, cached, reasoning })
await forked.close()
await again.close()
