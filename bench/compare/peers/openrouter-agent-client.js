import { OpenRouter, stepCountIs, tool } from '@openrouter/agent'
import { z } from 'zod'

import { note, NOTE_DESCRIPTION } from '../note.ts'

const noteTool = tool({
  name: 'note',
  description: NOTE_DESCRIPTION,
  inputSchema: z.object({ text: z.string() }),
  outputSchema: z.string(),
  execute: ({ text }) => note(text),
})

/** `callModel`; every event of the full stream is read. */
export function openrouterAgentClient() {
  const made = new Map()
  const start = (baseUrl, options) => {
    const router =
      made.get(baseUrl) ??
      new OpenRouter({ serverURL: baseUrl, apiKey: 'none', retryConfig: { strategy: 'none' } })
    made.set(baseUrl, router)
    return router.callModel({ model: 'bench', input: 'go', ...options })
  }
  return {
    answer: async (baseUrl) => {
      let [deltas, characters] = [0, 0]
      for await (const event of start(baseUrl).getFullResponsesStream()) {
        if (event.type !== 'response.output_text.delta') continue
        deltas += 1
        characters += event.delta.length
      }
      return { deltas, characters }
    },
    loop: async (baseUrl) => {
      const live = start(baseUrl, { tools: [noteTool], stopWhen: stepCountIs(1000) })
      let turns = 0
      for await (const { type } of live.getFullResponsesStream())
        if (type === 'response.completed') turns += 1
      return { turns, text: await live.getText() }
    },
    first: async (baseUrl) => {
      let at = 0n
      for await (const { type } of start(baseUrl).getFullResponsesStream()) {
        if (at === 0n && type === 'response.output_text.delta') at = process.hrtime.bigint()
      }
      return at
    },
  }
}
