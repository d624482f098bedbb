import { agent, run, tool } from 'loopchart'
import { assistantMessage, functionCall, scriptedModel } from 'loopchart/testing'
import { z } from 'zod'

const search = tool({
  name: 'search',
  description: 'Search the archive for a word.',
  inputSchema: z.object({ word: z.string() }),
  execute: ({ word }) => `nothing about ${word}`,
})

const asking = functionCall('search', { word: 'loop' })
const stubborn = [asking, asking, asking, assistantMessage('I found nothing.')]

for (const limits of [{ turns: 2 }, { toolCalls: 1 }, { noProgress: 2 }, { tokens: 100 }]) {
  const live = run(agent({ model: scriptedModel(stubborn), tools: [search], limits }), 'search')
  const { state, reason, turns, calls } = await live.result
  console.log(JSON.stringify(limits), state, reason, `turns: ${turns}, calls: ${calls.length}`)
}

const polite = agent({
  model: scriptedModel([asking, assistantMessage('I could not finish.')]),
  tools: [search],
  limits: { turns: 1 },
  onLimit: 'wrap_up',
})
const { state, text } = await run(polite, 'search').result
console.log('wrap_up:', state, JSON.stringify(text))
