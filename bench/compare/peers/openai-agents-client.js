import { Agent, OpenAIProvider, Runner, setTracingDisabled, tool } from '@openai/agents'
import { z } from 'zod'

import { note, NOTE_DESCRIPTION } from '../note.ts'

setTracingDisabled(true)

const agent = new Agent({
  name: 'bench',
  model: 'bench',
  tools: [
    tool({
      name: 'note',
      description: NOTE_DESCRIPTION,
      parameters: z.object({ text: z.string() }),
      execute: ({ text }) => note(text),
    }),
  ],
})

/** A `Runner` that streams; every event of it is read. */
export function openaiAgentsClient() {
  const made = new Map()
  const start = (baseUrl, options) => {
    const runner = made.get(baseUrl) ?? makeRunner(baseUrl)
    made.set(baseUrl, runner)
    return runner.run(agent, 'go', { stream: true, maxTurns: 1000, ...options })
  }
  return {
    answer: async (baseUrl) => {
      let [deltas, characters] = [0, 0]
      const live = await start(baseUrl)
      for await (const event of live) {
        if (!isText(event)) continue
        deltas += 1
        characters += event.data.delta.length
      }
      await live.completed
      return { deltas, characters }
    },
    loop: async (baseUrl, continuity) => {
      // The one before the first: with an id to go on from, it sends what is new only.
      const previous = continuity === 'stateless' ? {} : { previousResponseId: 'resp_-1' }
      const live = await start(baseUrl, previous)
      let turns = 0
      for await (const event of live) {
        if (event.type === 'raw_model_stream_event' && event.data.type === 'response_done') turns += 1
      }
      await live.completed
      return { turns, text: live.finalOutput }
    },
    first: async (baseUrl) => {
      let at = 0n
      const live = await start(baseUrl)
      for await (const event of live) if (at === 0n && isText(event)) at = process.hrtime.bigint()
      await live.completed
      return at
    },
  }
}

function makeRunner(baseUrl) {
  const modelProvider = new OpenAIProvider({ baseURL: baseUrl, apiKey: 'none', useResponses: true })
  return new Runner({ modelProvider, tracingDisabled: true })
}

function isText({ type, data }) {
  return type === 'raw_model_stream_event' && data.type === 'output_text_delta'
}
