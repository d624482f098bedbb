import { once } from 'node:events'
import { connect } from 'node:net'

import { expect, test } from 'vitest'

import { loadStrict } from '../../src/protocol/load-strict.ts'
import type { ScriptTurn } from '../../src/provider/scripted/script.ts'
import { startScriptedProvider } from '../../src/provider/scripted/start-scripted-provider.ts'
import { anomalyCodes, decodeChunks, decodeText, type Decoded } from '../decode.ts'
import { ManualClock } from '../manual-clock.ts'
import { ADD, FIVE, HELLO, post, postJson, provide, refusal, textOf } from './scripted-kit.ts'

const strict = await loadStrict()

const EVERYTHING: ScriptTurn = {
  output: [
    ...(ADD.output ?? []),
    { type: 'reasoning' },
    { type: 'refusal', text: 'I would rather not.' },
    { type: 'function_call', name: 'empty' },
    { type: 'function_call', name: 'exact', arguments: '{"half": ' },
    { type: 'message', text: 'Zürich \u{1F600} …' },
    { type: 'message', text: '' },
  ],
}

const TURNS: readonly (readonly [string, ScriptTurn])[] = [
  ['a message', HELLO],
  ['every kind of item', EVERYTHING],
  ['no item at all', {}],
  ['an incomplete end', { ...ADD, end: { status: 'incomplete' } }],
  ['an incomplete end with a reason', { ...HELLO, end: { status: 'incomplete', reason: 'content_filter' } }],
]

test.for(TURNS)('a stream with %s has no error and no anomaly for the strict reader', async ([, turn]) => {
  const provider = await provide([turn])
  const answer = await post(provider, { model: 'm', input: 'hi', stream: true })
  expect(answer.headers.get('content-type')).toBe('text/event-stream')
  const text = await answer.text()
  const decoded = decodeText(text, { profile: strict })
  expect(faultsOf(decoded)).toEqual([])
  expect(decoded.response.error).toBeNull()
  expect(decoded.response.items).toHaveLength(turn.output?.length ?? 0)
  expect(text.endsWith('data: [DONE]\n\n')).toBe(true)
})

test.for(TURNS)('a body with %s has no error for the strict reader', async ([, turn]) => {
  const provider = await provide([turn])
  const answer = await post(provider, { model: 'm', input: 'hi' })
  expect(answer.headers.get('content-type')).toBe('application/json')
  const decoded = decodeText(await answer.text(), { profile: strict, shape: 'body' })
  expect(faultsOf(decoded)).toEqual([])
  expect(decoded.response.error).toBeNull()
})

test('a request with every option is echoed in a response that the strict reader accepts', async () => {
  const provider = await provide([HELLO])
  const answer = await post(provider, {
    model: 'any-model',
    input: [{ role: 'user', content: 'hi' }],
    instructions: 'Be kind.',
    tools: [{ type: 'function', name: 'add' }],
    tool_choice: { type: 'allowed_tools', tools: [{ type: 'function', name: 'add' }] },
    text: { format: { type: 'json_schema', name: 'sum', schema: { type: 'object' } }, verbosity: 'low' },
    reasoning: { effort: 'low', summary: 'auto' },
    metadata: { a: 'b' },
    store: false,
    stream: true,
    temperature: 0,
    max_output_tokens: 16,
  })
  const decoded = decodeText(await answer.text(), { profile: strict })
  expect(faultsOf(decoded)).toEqual([])
  expect(decoded.response.error).toBeNull()
})

test('a failed end is a response with the error of the script', async () => {
  const provider = await provide([{ end: { status: 'failed', code: 'server_error', message: 'no more' } }])
  const answer = await post(provider, { model: 'm', input: 'hi', stream: true })
  const decoded = decodeText(await answer.text(), { profile: strict })
  expect(faultsOf(decoded)).toEqual([])
  expect(decoded.response.error).toMatchObject({
    code: 'response_failed',
    provider: { code: 'server_error' },
  })
})

test('usage is what the script says, or grows with the text', async () => {
  const provider = await provide([FIVE])
  expect((await postJson(provider, { input: 'a' }))['usage']).toEqual({
    input_tokens: 20,
    output_tokens: 4,
    total_tokens: 24,
    input_tokens_details: { cached_tokens: 8 },
    output_tokens_details: { reasoning_tokens: 1 },
  })
  const guessing = await provide(() => HELLO)
  const short = await postJson(guessing, { input: 'a' })
  const long = await postJson(guessing, { input: 'a'.repeat(4000) })
  const [few, many] = [short, long].map(
    (answer) => (answer['usage'] as { input_tokens: number }).input_tokens,
  )
  expect(many).toBeGreaterThan((few ?? 0) + 900)
})

test('a chain gets the turns in order, and going back to an older response gives the turn after it again', async () => {
  const provider = await provide([HELLO, FIVE, {}])
  const first = await postJson(provider, { input: 'one' })
  const second = await postJson(provider, { input: 'two', previous_response_id: first['id'] })
  expect(textOf(second)).toBe('It is 5.')
  expect(second['previous_response_id']).toBe(first['id'])
  const again = await postJson(provider, { input: 'other', previous_response_id: first['id'] })
  expect(textOf(again)).toBe('It is 5.')
  const third = await postJson(provider, { input: 'three', previous_response_id: again['id'] })
  expect(third['output']).toEqual([])
})

test('a conversation that is sent whole gets the turns in order, by the ids that came from here', async () => {
  const provider = await provide([ADD, FIVE, HELLO])
  const first = await postJson(provider, { input: 'add', store: false })
  const history = [
    { type: 'message', role: 'user', content: 'add' },
    ...(first['output'] as object[]),
    { type: 'function_call_output', call_id: 'call_x', output: '5' },
  ]
  const second = await postJson(provider, { input: history, store: false })
  expect(textOf(second)).toBe('It is 5.')
  const more = [...history, ...(second['output'] as object[]), { role: 'user', content: 'thanks' }]
  expect(textOf(await postJson(provider, { input: more, store: false }))).toBe('Hello there.')
})

test('a conversation that is sent whole without ids gets the turns in order, by the words of its answers', async () => {
  const provider = await provide([HELLO, FIVE])
  const first = await postJson(provider, { input: 'hi' })
  const history = [
    { type: 'message', role: 'user', content: 'hi' },
    { type: 'message', role: 'assistant', content: textOf(first) },
    { type: 'message', role: 'user', content: 'and now?' },
  ]
  expect(textOf(await postJson(provider, { input: history }))).toBe('It is 5.')
  const other = history.with(1, { type: 'message', role: 'assistant', content: 'never said here' })
  expect(textOf(await postJson(provider, { input: other }))).toBe('Hello there.')
})

test('two conversations do not see each other', async () => {
  const provider = await provide([HELLO, FIVE])
  const [a, b] = await Promise.all(['a', 'b'].map((input) => postJson(provider, { input })))
  expect([textOf(a), textOf(b)]).toEqual(['Hello there.', 'Hello there.'])
})

test('a turn that fails is used up, so that the same request sent again gets the next one', async () => {
  const status: ScriptTurn = { fault: { type: 'status', status: 503 } }
  const provider = await provide([status, { fault: { type: 'truncate', at_byte: 20 } }, HELLO])
  expect((await post(provider, { input: 'hi' })).status).toBe(503)
  expect(await (await post(provider, { input: 'hi' })).text()).toHaveLength(20)
  expect(textOf(await postJson(provider, { input: 'hi' }))).toBe('Hello there.')
  expect((await post(provider, { input: 'hi' })).status).toBe(503)
})

test('a script that has come to its end says so, and does not ask to be tried again', async () => {
  const provider = await provide([])
  expect(await refusal(await post(provider, { input: 'hi' }))).toEqual({
    status: 400,
    message: 'the script has no turn 1',
    code: 'script_exhausted',
  })
})

test('a response that nobody stored, or that never was, cannot be continued', async () => {
  const provider = await provide([HELLO])
  const { id } = await postJson(provider, { input: 'hi', store: false })
  for (const previous of [id, 'resp_9']) {
    expect(await refusal(await post(provider, { input: 'hi', previous_response_id: previous }))).toEqual({
      status: 400,
      message: `Previous response with id '${String(previous)}' not found.`,
      code: 'previous_response_not_found',
    })
  }
})

test('a call without its output is refused, in a chain and in a whole conversation', async () => {
  const provider = await provide([ADD, FIVE])
  const { id, output } = await postJson(provider, { input: 'add' })
  const refused = { status: 400, message: 'No tool output found for function call call_x.', code: null }
  expect(await refusal(await post(provider, { input: 'well?', previous_response_id: id }))).toEqual(refused)
  const whole = [{ role: 'user', content: 'add' }, ...(output as object[])]
  expect(await refusal(await post(provider, { input: whole }))).toEqual(refused)
})

test('an output without its call is refused, also when the call comes after it', async () => {
  const provider = await provide([HELLO])
  const output = { type: 'function_call_output', call_id: 'call_y', output: '5' }
  const call = { type: 'function_call', call_id: 'call_y', name: 'add', arguments: '{}' }
  for (const input of [[output], [output, call]]) {
    expect(await refusal(await post(provider, { input }))).toEqual({
      status: 400,
      message: 'No tool call found for function call output with call_id call_y.',
      code: null,
    })
  }
})

test('an item can be named instead of repeated, and one that is not known is refused', async () => {
  const provider = await provide([ADD, FIVE])
  const { output } = await postJson(provider, { input: 'add' })
  const items = output as { id: string }[]
  const references = items.map(({ id }) => ({ type: 'item_reference', id }))
  const answer = { type: 'function_call_output', call_id: 'call_x', output: '5' }
  expect(textOf(await postJson(provider, { input: [...references, answer] }))).toBe('It is 5.')
  const unknown = await post(provider, { input: [{ type: 'item_reference', id: 'msg_none' }] })
  expect((await refusal(unknown)).message).toBe("Item with id 'msg_none' not found.")
})

test('a request that breaks the protocol is refused with the field that is wrong', async () => {
  const provider = await provide([HELLO])
  const wrong = await refusal(
    await post(provider, { input: [{ type: 'message', role: 'nobody', content: 3 }] }),
  )
  expect(wrong.status).toBe(400)
  expect(wrong.message).toContain('input[0]')
  expect((await refusal(await post(provider, { input: 'hi', background: true }))).status).toBe(400)
  expect((await refusal(await post(provider, { input: 'hi', max_output_tokens: 'many' }))).message).toContain(
    'max_output_tokens',
  )
})

test('no request makes it fail', async () => {
  const provider = await provide(() => HELLO)
  for (const body of ['', '{', '[]', 'null', '"x"', '{"input":{}}', '['.repeat(100_000), '\u0000']) {
    expect((await post(provider, body)).status).toBe(400)
  }
  expect((await fetch(`${provider.url}/responses`)).status).toBe(405)
  expect((await fetch(`${provider.url}/responses/x`)).status).toBe(404)
  expect((await fetch(`${provider.url}/models`, { method: 'DELETE' })).status).toBe(405)
  expect((await post(provider, { input: 'hi' })).status).toBe(200)
})

test('a request may have fields that only answers have', async () => {
  const provider = await provide([HELLO])
  const odd = { model: 'm', input: 'hi', message: 'no', status: 7 }
  for (const path of ['responses', 'responses/compact']) {
    const answer = await fetch(`${provider.url}/${path}`, { method: 'POST', body: JSON.stringify(odd) })
    expect(answer.status).toBe(200)
  }
})

test('a body of more than 16 MiB is refused', async () => {
  const provider = await provide([HELLO])
  const answer = await post(provider, `"${'x'.repeat(17 * 1024 * 1024)}"`).catch((error: unknown) => error)
  // A client may still be writing when it is refused, and then sees only that.
  expect(answer instanceof Response ? answer.status : answer instanceof TypeError && 413).toBe(413)
  expect((await post(provider, { input: 'hi' })).status).toBe(200)
})

test('a client that goes away in the middle of its request is forgotten', async () => {
  const provider = await provide([HELLO])
  const { port } = new URL(provider.url)
  const socket = connect(Number(port), '127.0.0.1')
  await once(socket, 'connect')
  socket.write('POST /v1/responses HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{"in')
  socket.destroy()
  await once(socket, 'close')
  expect((await post(provider, { input: 'hi' })).status).toBe(200)
})

test('it lists its model', async () => {
  const provider = await provide([])
  const answer = await fetch(`${provider.url}/models`)
  expect(await answer.json()).toMatchObject({ object: 'list', data: [{ id: 'scripted-1', object: 'model' }] })
})

test('requests are kept as they came, wrong ones too', async () => {
  const provider = await provide([HELLO])
  await post(provider, { input: 'hi', extra: 1 })
  await post(provider, { input: 7 })
  expect(provider.requests.map(({ body }) => body)).toEqual([{ input: 'hi', extra: 1 }, { input: 7 }])
  expect(provider.requests[0]?.headers['authorization']).toBe('Bearer none')
})

test('a function is asked for each turn with its number, and what it gives is checked', async () => {
  const seen: unknown[] = []
  const provider = await provide((request, turn) => {
    seen.push([request.input, turn])
    if (turn === 1) return { output: [{ type: 'message', text: 'one' }] }
    return turn === 2 ? ({ output: 3 } as never) : Promise.reject(new Error('I forgot'))
  })
  const { id } = await postJson(provider, { input: 'a' })
  const wrong = await post(provider, { input: 'b', previous_response_id: id })
  expect(await refusal(wrong)).toEqual({
    status: 500,
    message: 'script is not valid: output must be array',
    code: 'script_invalid',
  })
  expect(seen).toEqual([
    ['a', 1],
    ['b', 2],
  ])
  const failing = await provide(() => Promise.reject(new Error('I forgot')))
  expect((await refusal(await post(failing, { input: 'a' }))).message).toBe('I forgot')
})

test('a port that is taken is a usage error', async () => {
  const provider = await provide([])
  const port = Number(new URL(provider.url).port)
  await expect(startScriptedProvider({ v: 1, turns: [] }, { port })).rejects.toMatchObject({
    code: 'usage',
    message: `cannot listen on 127.0.0.1:${port}: something else does; take another port`,
  })
})

async function streamText(turns: readonly ScriptTurn[]): Promise<string> {
  const provider = await provide(turns, { clock: new ManualClock() })
  return (await post(provider, { input: 'hi', stream: true })).text()
}

function faultsOf(decoded: Decoded): readonly unknown[] {
  const errors = decoded.events.flatMap((event) => [...event.errors, ...event.response_errors])
  return [...errors, ...anomalyCodes(decoded)]
}

test('a decoded stream is the same whatever its chunks were', async () => {
  const text = await streamText([EVERYTHING])
  const bytes = Buffer.from(text)
  const pieces = Array.from({ length: bytes.length }, (_, at) => bytes.subarray(at, at + 1))
  expect(decodeChunks(pieces, { profile: strict }).response).toEqual(
    decodeText(text, { profile: strict }).response,
  )
})
