import { agent, conversation } from 'loopchart'
import { assistantMessage, scriptedModel } from 'loopchart/testing'

const paragraph = 'It rained, and nobody minded. '.repeat(40)
const model = scriptedModel([
  ...['Monday', 'Tuesday', 'Wednesday', 'Thursday'].map((day) => assistantMessage(`${day}: ${paragraph}`)),
  ({ input }) => assistantMessage(`I was told ${JSON.stringify(input).length} characters.`),
])

const talk = conversation(agent({ model }), {
  context: { budgetTokens: 1000 }, // what a run is told of the conversation, at most
  compaction: { way: 'rules', atShare: 0.8, keepShare: 0.4 },
})
for (const day of ['Monday', 'Tuesday', 'Wednesday', 'Thursday']) await talk.send(`How was ${day}?`)
const last = await talk.send('How much were you told?')
if (last.status === 'ended') console.log(last.text)

const undone = await talk.fork({ at: 3 })
await talk.close()
for await (const frame of talk.frames()) {
  if (frame.type !== 'history_compacted') continue
  const { way, entry_seq: entry, tokens_before: before, tokens_after: after } = frame.figures
  console.log(frame.cause, { way, entry, before, after })
}
console.log(undone.entries.map((entry) => entry.type))
await undone.close()
