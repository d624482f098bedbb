// In JavaScript, as the other files here: their types are only there where the packages of this folder are installed,
// and the type check must not need them.
import OpenAI from 'openai'

import { note, NOTE_DESCRIPTION, NOTE_PARAMETERS } from '../note.ts'

const TOOLS = [
  {
    type: 'function',
    name: 'note',
    description: NOTE_DESCRIPTION,
    parameters: NOTE_PARAMETERS,
    strict: false,
  },
]

/** `responses.create({ stream: true })` and a loop by hand. */
export function openaiCreateClient() {
  return clientWith((openai, fields) => openai.responses.create({ ...fields, stream: true }))
}

/** `responses.stream()`, which keeps a snapshot of the response, and a loop by hand. */
export function openaiStreamClient() {
  return clientWith((openai, fields) => openai.responses.stream(fields))
}

function clientWith(request) {
  const made = new Map()
  const open = (baseUrl, fields) => {
    const openai = made.get(baseUrl) ?? new OpenAI({ baseURL: baseUrl, apiKey: 'none', maxRetries: 0 })
    made.set(baseUrl, openai)
    return request(openai, { model: 'bench', ...fields })
  }
  return {
    answer: async (baseUrl) => {
      let [deltas, characters] = [0, 0]
      for await (const event of await open(baseUrl, { input: 'go' })) {
        if (event.type !== 'response.output_text.delta') continue
        deltas += 1
        characters += event.delta.length
      }
      return { deltas, characters }
    },
    loop: (baseUrl, continuity) => loop((fields) => open(baseUrl, fields), continuity),
    first: async (baseUrl) => {
      let at = 0n
      for await (const { type } of await open(baseUrl, { input: 'go' })) {
        if (at === 0n && type === 'response.output_text.delta') at = process.hrtime.bigint()
      }
      return at
    },
  }
}

async function loop(open, continuity) {
  const history = [{ type: 'message', role: 'user', content: 'go' }]
  let input = history
  let previous_response_id
  for (let turns = 1; ; turns += 1) {
    let response
    for await (const event of await open({ input, tools: TOOLS, previous_response_id })) {
      if (event.type === 'response.completed') response = event.response
    }
    const calls = response.output.filter(({ type }) => type === 'function_call')
    const outputs = calls.map(({ call_id, arguments: given }) => ({
      type: 'function_call_output',
      call_id,
      output: note(JSON.parse(given).text),
    }))
    if (outputs.length === 0) return { turns, text: response.output[0].content[0].text }
    if (continuity === 'stateless') {
      history.push(...response.output, ...outputs)
    } else {
      input = outputs
      previous_response_id = response.id
    }
  }
}
