import { expect, test } from 'vitest'

import { LoopchartError } from '../../src/errors.ts'
import type { CompactResource } from '../../src/protocol/generated/openresponses.ts'
import { strictCompactionValidator } from '../../src/protocol/generated/strict-events.ts'
import { strictRequestValidator } from '../../src/protocol/generated/strict-request.ts'
import type { JsonObject } from '../../src/protocol/json.ts'
import { openResponses } from '../../src/provider/open-responses.ts'
import type { ScriptCompaction } from '../../src/provider/scripted/script.ts'
import {
  startScriptedProvider,
  type ScriptedProvider,
} from '../../src/provider/scripted/start-scripted-provider.ts'
import { ADD, FIVE, HELLO, post, postJson, provide, textOf } from './scripted-kit.ts'

const USER = { type: 'message', role: 'user', content: 'add two and three' }
const SYSTEM = { type: 'message', role: 'system', content: 'Be kind.' }
const SAID = { type: 'message', role: 'assistant', content: 'Well.' }
const CALL = { type: 'function_call', call_id: 'call_y', name: 'add', arguments: '{}' }
const OUTPUT = { type: 'function_call_output', call_id: 'call_y', output: '5' }
const PICTURE = {
  type: 'message',
  id: 'msg_own',
  role: 'user',
  content: [
    { type: 'input_text', text: 'Zürich \u{1F600}' },
    { type: 'input_image', image_url: 'data:image/png;base64,AA==' },
    { type: 'input_file', filename: 'a.txt', file_url: null },
    { type: 'input_file', filename: null, file_url: 'https://files.example/b' },
  ],
}
const FILES = [
  { type: 'input_file', filename: 'a.txt' },
  { type: 'input_file', file_url: 'https://files.example/b' },
]
const CONVERSATION = [SYSTEM, USER, CALL, OUTPUT, SAID, PICTURE]

function postCompact({ url }: ScriptedProvider, body: object | string): Promise<Response> {
  return fetch(`${url}/responses/compact`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
}

async function compact(provider: ScriptedProvider, body: object): Promise<CompactResource> {
  const answer = await postCompact(provider, { model: 'm', ...body })
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/json'])
  return (await answer.json()) as CompactResource
}

async function errorOf(answer: Response): Promise<unknown> {
  const { error } = (await answer.json()) as { error: { code: unknown; param: unknown; message: string } }
  return { status: answer.status, code: error.code, param: error.param, message: error.message }
}

test('a compaction is what the user said, word for word, and one item for all the rest', async () => {
  const provider = await provide([HELLO])
  const body = await compact(provider, { input: CONVERSATION })
  expect(body).toMatchObject({ object: 'response.compaction' })
  const [first, second, rest, ...more] = body.output
  expect(more).toEqual([])
  expect(first).toEqual({
    type: 'message',
    id: 'msg_cmp_1_1',
    status: 'completed',
    role: 'user',
    content: [{ type: 'input_text', text: 'add two and three' }],
  })
  expect(second).toMatchObject({
    id: 'msg_own',
    content: [PICTURE.content[0], { detail: 'auto' }, FILES[0], FILES[1]],
  })
  expect(rest).toMatchObject({ type: 'compaction', id: 'cmp_1' })
  expect(JSON.stringify(rest)).not.toContain('Well.')
  const { input_tokens: before, output_tokens: after, total_tokens: total } = body.usage
  expect(before).toBeGreaterThan(JSON.stringify([SYSTEM, USER]).length / 4)
  expect(total).toBe(before + after)
})

test('the strict schemas take the answer, and take it back as the start of a request', async () => {
  const provider = await provide([HELLO])
  for (const input of ['hi', [USER], CONVERSATION]) {
    const body = await compact(provider, { input, instructions: 'Be short.', prompt_cache_key: 'k' })
    expect([strictCompactionValidator(body), strictCompactionValidator.errors]).toEqual([true, null])
    const next = { model: 'm', input: [...body.output, USER] }
    expect([strictRequestValidator(next), strictRequestValidator.errors]).toEqual([true, null])
    expect(textOf(await postJson(provider, next))).toBe('Hello there.')
  }
})

test('a conversation goes on after its compaction, also after a second one, and gets its next turns', async () => {
  const provider = await provide([ADD, FIVE, HELLO, FIVE])
  const first = (await postJson(provider, { input: 'add' }))['output'] as object[]
  const answer = { type: 'function_call_output', call_id: 'call_x', output: '5' }
  const whole = [{ type: 'message', role: 'user', content: 'add' }, ...first, answer]
  const second = (await postJson(provider, { input: whole }))['output'] as object[]
  const window = await compact(provider, { input: [...whole, ...second] })
  const third = await postJson(provider, { input: [...window.output, USER] })
  expect(textOf(third)).toBe('Hello there.')
  const again = await compact(provider, { input: [...window.output, USER] })
  expect(again.output.map(({ type }) => type)).toEqual(['message', 'message', 'compaction'])
  expect(textOf(await postJson(provider, { input: [...again.output, USER] }))).toBe('Hello there.')
  const chained = await postJson(provider, { input: 'and?', previous_response_id: third['id'] })
  expect(textOf(chained)).toBe('It is 5.')
})

test('a stored chain can be compacted by its id', async () => {
  const provider = await provide([ADD, FIVE, HELLO])
  const first = await postJson(provider, { input: 'add' })
  const answer = { type: 'function_call_output', call_id: 'call_x', output: '5' }
  const byId = { previous_response_id: first['id'] }
  expect(await errorOf(await postCompact(provider, { model: 'm', ...byId }))).toMatchObject({
    status: 400,
    message: 'No tool output found for function call call_x.',
  })
  const window = await compact(provider, { ...byId, input: [answer, USER] })
  const texts = window.output.flatMap((item) => (item.type === 'message' ? item.content : []))
  expect(texts).toMatchObject([{ text: 'add' }, { text: 'add two and three' }])
  const twice = { model: 'm', input: [...window.output, answer] }
  expect(await errorOf(await post(provider, twice))).toMatchObject({
    status: 400,
    message: 'More than one output came for function call call_x.',
  })
  expect(textOf(await postJson(provider, { input: window.output }))).toBe('It is 5.')
})

test('the calls in a compaction are paired: neither they nor their outputs come again', async () => {
  const provider = await provide([HELLO])
  const { output } = await compact(provider, { input: CONVERSATION })
  for (const [more, message] of [
    [[OUTPUT], 'More than one output came for function call call_y.'],
    [[CALL, OUTPUT], 'More than one function call came with call_id call_y.'],
    [[{ ...CALL, call_id: 'call_z' }], 'No tool output found for function call call_z.'],
  ] as const) {
    expect(await errorOf(await post(provider, { input: [...output, ...more] }))).toMatchObject({
      status: 400,
      message,
    })
  }
  const [, , rest] = output
  const inside = [{ ...CALL, call_id: 'call_z' }, rest, { ...OUTPUT, call_id: 'call_z' }]
  expect((await post(provider, { input: inside })).status).toBe(400)
})

test('reasoning in front of a compaction has lost the item that it led to', async () => {
  const provider = await provide([HELLO])
  const { output } = await compact(provider, { input: [USER, CALL, OUTPUT] })
  const thought = { type: 'reasoning', id: 'rs_own', summary: [], encrypted_content: 'b3BhcXVl' }
  expect(await errorOf(await post(provider, { input: [thought, ...output.slice(1), USER] }))).toMatchObject({
    message: "Reasoning item 'rs_own' came without the item that has to follow it.",
  })
})

test('a compaction that was altered, invented or made elsewhere is refused', async () => {
  const provider = await provide([HELLO])
  const elsewhere = await provide([HELLO])
  const { output } = await compact(provider, { input: CONVERSATION })
  const foreign = await compact(elsewhere, { input: CONVERSATION })
  const own = output[2] as { encrypted_content: string }
  const { encrypted_content: sealed } = own
  const [text = '', seal = ''] = sealed.split('.')
  const others = [
    `${text.slice(0, -2)}AA.${seal}`,
    `${sealed}.`,
    `${text}.`,
    '',
    'b3BhcXVl',
    (foreign.output[2] as { encrypted_content: string }).encrypted_content,
  ]
  for (const encrypted_content of others) {
    const input = [USER, { ...own, encrypted_content }, USER]
    for (const refused of [
      await post(provider, { input }),
      await postCompact(provider, { model: 'm', input }),
    ]) {
      expect(await errorOf(refused)).toMatchObject({
        status: 400,
        code: 'invalid_encrypted_content',
        param: 'input',
      })
    }
  }
  expect((await post(provider, { input: [USER, own, USER] })).status).toBe(200)
})

test('a compaction outlives what was stored', async () => {
  const provider = await provide([HELLO])
  const { output } = await compact(provider, { input: CONVERSATION })
  provider.forget()
  expect((await post(provider, { input: [...output, USER] })).status).toBe(200)
})

test('what is to be compacted is held to the protocol and to its pairs', async () => {
  const provider = await provide([HELLO])
  for (const [body, said] of [
    [{ input: 'hi' }, { message: 'request body is not valid: model is missing' }],
    [{ model: 'm' }, { message: 'There is nothing to compact.' }],
    [{ model: 'm', input: [] }, { message: 'There is nothing to compact.' }],
    [{ model: 'm', input: [{ type: 'sound' }] }, { code: 'invalid_request' }],
    [{ model: 'm', input: [USER, CALL] }, { message: 'No tool output found for function call call_y.' }],
    [{ model: 'm', previous_response_id: 'resp_9' }, { code: 'previous_response_not_found' }],
  ] as const) {
    expect(await errorOf(await postCompact(provider, body))).toMatchObject({ status: 400, ...said })
  }
  for (const body of ['', '{', '[]', 'null', '['.repeat(100_000)]) {
    expect((await postCompact(provider, body)).status).toBe(400)
  }
  const deep = `{"model":"m","input":[{"type":"message","role":"user","content":"x","x":${'['.repeat(9000)}${']'.repeat(9000)}}]}`
  expect((await postCompact(provider, deep)).status).toBe(400)
  expect((await fetch(`${provider.url}/responses/compact`)).status).toBe(405)
  expect((await postCompact(provider, { model: 'm', input: 'hi' })).status).toBe(200)
})

test('requests to compact are kept apart from the others', async () => {
  const provider = await provide([HELLO])
  await compact(provider, { input: 'hi' })
  await post(provider, { input: 'there' })
  expect(provider.compactRequests.map(({ body }) => body)).toEqual([{ model: 'm', input: 'hi' }])
  expect(provider.requests.map(({ body }) => body)).toEqual([{ input: 'there' }])
})

const BROKEN: ScriptCompaction = { fault: { type: 'status', status: 500 } }

test('a script says which compactions fail: the first ones, or all of them', async () => {
  const script = { v: 1, turns: [HELLO], compact: [BROKEN, {}, BROKEN] } as const
  const some = await startScriptedProvider(script)
  const all = await provide([HELLO], { compact: { fault: { type: 'status', status: 404 } } })
  const statuses: number[] = []
  for (const provider of [some, some, some, some, all, all]) {
    statuses.push((await postCompact(provider, { model: 'm', input: 'hi' })).status)
  }
  await some.close()
  expect(statuses).toEqual([500, 200, 500, 200, 404, 404])
})

test('a function as script has compactions as the options say, and wrong ones are refused at once', async () => {
  const usage = { input_tokens: 100, output_tokens: 7, cached_tokens: 50 }
  const provider = await provide(() => HELLO, { compact: [BROKEN, { usage, chunk_bytes: 3 }] })
  expect((await postCompact(provider, { model: 'm', input: 'hi' })).status).toBe(500)
  expect((await compact(provider, { input: 'hi' })).usage).toMatchObject({
    total_tokens: 107,
    input_tokens_details: { cached_tokens: 50 },
  })
  await expect(provide([], { compact: { output: [] } as never })).rejects.toEqual(
    new LoopchartError('script_invalid', 'script is not valid: output is not a field of it'),
  )
})

test.for<readonly [string, ScriptCompaction, string | null]>([
  ['works', {}, null],
  ['says 500', BROKEN, 'provider_unavailable'],
  ['is not there', { fault: { type: 'status', status: 404 } }, 'endpoint_not_found'],
  ['is reset before its head', { fault: { type: 'reset', at_byte: 0 } }, 'connection_lost'],
  ['is a page', { fault: { type: 'raw', text: '<p>', content_type: 'text/html' } }, 'response_unreadable'],
])('a compaction over HTTP that %s is told like a response', async ([, compaction, code]) => {
  const provider = await provide([], { compact: compaction })
  const model = openResponses({ model: 'm', baseUrl: provider.url, apiKey: 'none', compact: true })
  const { fault, text } = await sendCompact(model, { model: 'm', input: [USER] })
  expect(fault?.code ?? null).toBe(code)
  expect(text.length > 0 && strictCompactionValidator(JSON.parse(text))).toBe(code === null)
})

async function sendCompact(
  model: ReturnType<typeof openResponses>,
  body: JsonObject,
): Promise<{ readonly fault: { readonly code: string } | null; readonly text: string }> {
  const chunks: Uint8Array[] = []
  const fault = await model.compact?.send({
    body: JSON.stringify(body),
    idempotencyKey: 'run_1/compact',
    signal: new AbortController().signal,
    onHead: () => undefined,
    onChunk: (chunk) => chunks.push(chunk) > 0,
  })
  return { fault: fault ?? null, text: new TextDecoder().decode(Buffer.concat(chunks)) }
}
