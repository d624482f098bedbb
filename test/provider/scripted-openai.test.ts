import OpenAI, {
  APIConnectionError,
  AuthenticationError,
  BadRequestError,
  InternalServerError,
  RateLimitError,
} from 'openai'
import type { ResponseInputItem } from 'openai/resources/responses/responses'
import { expect, test } from 'vitest'

import type { ScriptTurn } from '../../src/provider/scripted/script.ts'
import type { ScriptedProvider } from '../../src/provider/scripted/start-scripted-provider.ts'
import { ADD, FIVE, HELLO, provide } from './scripted-kit.ts'

// A second client, which knows nothing of this package: what it cannot read is not Open Responses.
async function start(
  turns: readonly ScriptTurn[],
): Promise<{ readonly client: OpenAI; readonly provider: ScriptedProvider }> {
  const provider = await provide(turns)
  return { provider, client: new OpenAI({ baseURL: provider.url, apiKey: 'none', maxRetries: 0 }) }
}

const TOOLS: OpenAI.Responses.FunctionTool[] = [
  {
    type: 'function',
    name: 'add',
    parameters: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } } },
    strict: false,
  },
]

test('the openai package reads a whole response', async () => {
  const { client, provider } = await start([FIVE])
  const response = await client.responses.create({ model: 'gpt-5.2', input: '2+3?' })
  expect(response).toMatchObject({ status: 'completed', output_text: 'It is 5.', model: 'gpt-5.2' })
  expect(response.usage).toMatchObject({ total_tokens: 24 })
  expect(provider.requests[0]?.headers['authorization']).toBe('Bearer none')
})

test('the openai package reads a stream event by event, and its own collector agrees', async () => {
  // Its collector knows OpenAI's name of the events for raw reasoning, and not that of the protocol.
  const items = (ADD.output ?? []).map((item) =>
    item.type === 'reasoning' ? { type: item.type, summary: 'Adding is needed.' } : item,
  )
  const { client } = await start([{ output: items }, { output: items }])
  const types: string[] = []
  let text = ''
  const stream = await client.responses.create({ model: 'gpt-5.2', input: 'add', tools: TOOLS, stream: true })
  for await (const event of stream) {
    types.push(event.type)
    if (event.type === 'response.output_text.delta') text += event.delta
    expect(event.sequence_number).toBe(types.length - 1)
  }
  expect(text).toBe('Let me see.')
  expect([types[0], types.at(-1)]).toEqual(['response.created', 'response.completed'])
  const final = await client.responses
    .stream({ model: 'gpt-5.2', input: 'add!', tools: TOOLS })
    .finalResponse()
  expect(final.output.map(({ type }) => type)).toEqual(['reasoning', 'message', 'function_call'])
  expect(final.output_text).toBe('Let me see.')
})

test('the openai package follows up on a call by previous_response_id', async () => {
  const { client } = await start([ADD, FIVE])
  const first = await client.responses.create({ model: 'gpt-5.2', input: 'add', tools: TOOLS })
  const output: ResponseInputItem = { type: 'function_call_output', call_id: 'call_x', output: '5' }
  const second = await client.responses.create({
    model: 'gpt-5.2',
    previous_response_id: first.id,
    input: [output],
    tools: TOOLS,
  })
  expect(second.output_text).toBe('It is 5.')
})

test('the openai package follows up on a call with the whole conversation', async () => {
  const { client } = await start([ADD, FIVE])
  const input: ResponseInputItem[] = [{ role: 'user', content: 'add' }]
  const first = await client.responses.create({ model: 'gpt-5.2', input, tools: TOOLS, store: false })
  const output: ResponseInputItem = { type: 'function_call_output', call_id: 'call_x', output: '5' }
  const second = await client.responses.create({
    model: 'gpt-5.2',
    input: [...input, ...(first.output as ResponseInputItem[]), output],
    tools: TOOLS,
    store: false,
  })
  expect(second.output_text).toBe('It is 5.')
})

test('the openai package tells a forgotten output by its own error', async () => {
  const { client } = await start([ADD, FIVE])
  const first = await client.responses.create({ model: 'gpt-5.2', input: 'add', tools: TOOLS })
  const asked = client.responses.create({ model: 'gpt-5.2', previous_response_id: first.id, input: 'and?' })
  await expect(asked).rejects.toBeInstanceOf(BadRequestError)
  await expect(asked).rejects.toMatchObject({
    message: '400 No tool output found for function call call_x.',
    param: 'input',
    type: 'invalid_request_error',
  })
  const unknown = client.responses.create({ model: 'gpt-5.2', previous_response_id: 'resp_no', input: 'x' })
  await expect(unknown).rejects.toMatchObject({ status: 400, code: 'previous_response_not_found' })
})

test.for([
  [400, BadRequestError],
  [401, AuthenticationError],
  [429, RateLimitError],
  [500, InternalServerError],
] as const)('the openai package makes status %i an error of its own class', async ([status, Class]) => {
  const { client } = await start([{ fault: { type: 'status', status, headers: { 'x-own': 'yes' } } }])
  const error = await client.responses
    .create({ model: 'gpt-5.2', input: 'x' })
    .catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(Class)
  expect(error).toMatchObject({ status, requestID: 'req_1' })
})

test('the openai package tries again after a status that asks for it, and gets the next turn', async () => {
  const turn: ScriptTurn = { fault: { type: 'status', status: 429, headers: { 'retry-after-ms': '1' } } }
  const provider = await provide([turn, HELLO])
  const client = new OpenAI({ baseURL: provider.url, apiKey: 'none', maxRetries: 1 })
  const response = await client.responses.create({ model: 'gpt-5.2', input: 'x' })
  expect(response.output_text).toBe('Hello there.')
  expect(provider.requests).toHaveLength(2)
})

test('the openai package sees a reset before the head as a connection error', async () => {
  const { client } = await start([{ fault: { type: 'reset', at_byte: 0 } }])
  await expect(client.responses.create({ model: 'm', input: 'x' })).rejects.toBeInstanceOf(APIConnectionError)
})

test('the openai package lists the model', async () => {
  const { client } = await start([])
  expect((await client.models.list()).data.map(({ id }) => id)).toEqual(['scripted-1'])
})

test('the openai package sees an incomplete and a failed response as what they are', async () => {
  const { client } = await start([
    { ...HELLO, end: { status: 'incomplete', reason: 'content_filter' } },
    { end: { status: 'failed', code: 'server_error', message: 'out of order' } },
  ])
  const cut = await client.responses.create({ model: 'm', input: 'x' })
  expect(cut).toMatchObject({ status: 'incomplete', incomplete_details: { reason: 'content_filter' } })
  const failed = await client.responses.create({ model: 'm', input: 'y', previous_response_id: cut.id })
  expect(failed).toMatchObject({ status: 'failed', error: { message: 'out of order' } })
})

test('the openai package compacts a conversation, and goes on with what it got', async () => {
  const { client } = await start([ADD, FIVE])
  const input: ResponseInputItem[] = [{ role: 'user', content: 'add' }]
  const first = await client.responses.create({ model: 'gpt-5.2', input, tools: TOOLS, store: false })
  const output: ResponseInputItem = { type: 'function_call_output', call_id: 'call_x', output: '5' }
  const whole = [...input, ...(first.output as ResponseInputItem[]), output]
  const window = await client.responses.compact({ model: 'gpt-5.2', input: whole, instructions: 'Be short.' })
  expect(window.object).toBe('response.compaction')
  expect(window.output.map(({ type }) => type)).toEqual(['message', 'compaction'])
  expect(window.usage.total_tokens).toBeGreaterThan(0)
  const next: ResponseInputItem = { role: 'user', content: 'well?' }
  const second = await client.responses.create({
    model: 'gpt-5.2',
    input: [...(window.output as ResponseInputItem[]), next],
    store: false,
  })
  expect(second.output_text).toBe('It is 5.')
})

test('the openai package sees a compaction that is not there as what it is', async () => {
  const provider = await provide([], { compact: { fault: { type: 'status', status: 404 } } })
  const client = new OpenAI({ baseURL: provider.url, apiKey: 'none', maxRetries: 0 })
  await expect(client.responses.compact({ model: 'gpt-5.2', input: 'hi' })).rejects.toMatchObject({
    status: 404,
  })
})
