import { createOpenResponses } from '@ai-sdk/open-responses'
import { createOpenAI } from '@ai-sdk/openai'
import { isStepCount, streamText, tool } from 'ai'
import { z } from 'zod'

import { note, NOTE_DESCRIPTION } from '../note.ts'

const tools = {
  note: tool({
    description: NOTE_DESCRIPTION,
    inputSchema: z.object({ text: z.string() }),
    execute: ({ text }) => note(text),
  }),
}

/** `streamText` over `@ai-sdk/openai`; every part of the full stream is read. */
export function aiOpenaiClient() {
  return clientWith((baseUrl) => createOpenAI({ baseURL: baseUrl, apiKey: 'none' }).responses('bench'))
}

/** `streamText` over `@ai-sdk/open-responses`. */
export function aiOpenResponsesClient() {
  return clientWith((baseUrl) =>
    createOpenResponses({ name: 'bench', url: `${baseUrl}/responses`, apiKey: 'none' })('bench'),
  )
}

function clientWith(makeModel) {
  const made = new Map()
  const start = (baseUrl, options) => {
    const model = made.get(baseUrl) ?? makeModel(baseUrl)
    made.set(baseUrl, model)
    return streamText({
      model,
      prompt: 'go',
      maxRetries: 0,
      telemetry: { isEnabled: false },
      // It prints errors otherwise, and ends the stream as if there were none.
      onError: () => undefined,
      ...options,
    })
  }
  return {
    answer: async (baseUrl) => {
      let [deltas, characters] = [0, 0]
      for await (const part of start(baseUrl).stream) {
        if (part.type === 'error') throw part.error
        if (part.type !== 'text-delta') continue
        deltas += 1
        characters += part.text.length
      }
      return { deltas, characters }
    },
    loop: async (baseUrl) => {
      const live = start(baseUrl, { tools, stopWhen: isStepCount(1000) })
      for await (const part of live.stream) if (part.type === 'error') throw part.error
      return { turns: (await live.steps).length, text: await live.text }
    },
    first: async (baseUrl) => {
      let at = 0n
      for await (const { type } of start(baseUrl).stream) {
        if (at === 0n && type === 'text-delta') at = process.hrtime.bigint()
      }
      return at
    },
  }
}
