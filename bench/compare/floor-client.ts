import { createParser } from 'eventsource-parser'

import type { Client } from './client.ts'
import { note, NOTE_DESCRIPTION, NOTE_PARAMETERS } from './note.ts'

interface FloorEvent {
  readonly type: string
  readonly delta?: string
  readonly item?: { readonly type: string; readonly call_id: string; readonly arguments: string }
  readonly response?: { readonly id: string }
}

const TOOLS = [{ type: 'function', name: 'note', description: NOTE_DESCRIPTION, parameters: NOTE_PARAMETERS }]

/** The least a program can do: fetch, eventsource-parser, JSON.parse and a loop by hand. Every ratio is to this. */
export function floorClient(): Client {
  return { answer, loop, first }
}

async function answer(baseUrl: string): Promise<{ deltas: number; characters: number }> {
  let [deltas, characters] = [0, 0]
  await request(baseUrl, { input: 'go' }, ({ type, delta = '' }) => {
    if (type !== 'response.output_text.delta') return
    deltas += 1
    characters += delta.length
  })
  return { deltas, characters }
}

async function first(baseUrl: string): Promise<bigint> {
  let at = 0n
  await request(baseUrl, { input: 'go' }, ({ type }) => {
    if (at === 0n && type === 'response.output_text.delta') at = process.hrtime.bigint()
  })
  return at
}

async function loop(
  baseUrl: string,
  continuity: 'stateless' | 'previous_response_id',
): Promise<{ turns: number; text: string }> {
  const history: unknown[] = [{ type: 'message', role: 'user', content: 'go' }]
  let input = history
  let previous_response_id: string | undefined
  for (let turns = 1; ; turns += 1) {
    const outputs: unknown[] = []
    let text = ''
    await request(baseUrl, { input, tools: TOOLS, previous_response_id }, (event) => {
      if (event.type === 'response.output_text.delta') text += event.delta
      if (event.type === 'response.completed') previous_response_id = event.response?.id
      if (event.type !== 'response.output_item.done' || event.item?.type !== 'function_call') return
      const { call_id, arguments: given } = event.item
      if (continuity === 'stateless') history.push(event.item)
      const { text: told } = JSON.parse(given) as { text: string }
      outputs.push({ type: 'function_call_output', call_id, output: note(told) })
    })
    if (outputs.length === 0) return { turns, text }
    if (continuity === 'stateless') {
      history.push(...outputs)
      previous_response_id = undefined
    } else {
      input = outputs
    }
  }
}

async function request(
  baseUrl: string,
  fields: Readonly<Record<string, unknown>>,
  onEvent: (event: FloorEvent) => void,
): Promise<void> {
  const response = await fetch(`${baseUrl}/responses`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
    body: JSON.stringify({ model: 'bench', stream: true, ...fields }),
  })
  if (!response.ok || response.body === null) throw new Error(await response.text())
  const decoder = new TextDecoder()
  const parser = createParser({
    onEvent: ({ data }) => {
      if (data !== '[DONE]') onEvent(JSON.parse(data) as FloorEvent)
    },
  })
  const reader = response.body.getReader()
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    parser.feed(decoder.decode(part.value, { stream: true }))
  }
}
