import { Buffer } from 'node:buffer'
import { channel } from 'node:diagnostics_channel'

import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import { agent } from '../../src/agent.ts'
import { LoopchartError } from '../../src/errors.ts'
import type { Model, SendFault } from '../../src/loop/model.ts'
import { run } from '../../src/loop/run.ts'
import { isJsonObject, parseJson } from '../../src/protocol/json.ts'
import {
  openResponses,
  type OpenResponsesModel,
  type SendOptions,
} from '../../src/provider/open-responses.ts'
import { ManualClock } from '../manual-clock.ts'
import { finishRun, sentTypes, untilFrame } from '../scripted-model.ts'
import {
  CALL,
  errorBody,
  fakeProvider,
  fixture,
  jsonAnswer,
  KEY,
  refuses,
  stallsAfter,
  startHttpRun,
  streams,
  TEXT,
  until,
  type Answer,
} from './fake-provider.ts'

beforeEach(() => {
  vi.stubEnv('OPENAI_API_KEY', undefined)
  vi.stubEnv('OPENAI_BASE_URL', undefined)
  vi.stubEnv('OPENROUTER_API_KEY', undefined)
})

afterEach(() => {
  vi.unstubAllEnvs()
})

function send(model: OpenResponsesModel, options: Partial<SendOptions> = {}): Promise<SendFault | null> {
  return model.send({
    body: '{}',
    idempotencyKey: 'run_1/1/stateless',
    signal: new AbortController().signal,
    onHead: () => undefined,
    onChunk: () => true,
    ...options,
  })
}

test('a model over HTTP is a model for an agent, and runs a loop with a tool', async () => {
  const provider = await fakeProvider(streams(CALL), streams(TEXT))
  const started = startHttpRun(provider)
  const model: Model = started.model
  expect(model).toMatchObject({ name: 'm-1', endpoint: `${provider.baseUrl}/responses`, isStreamed: true })
  const { result } = await finishRun(started)
  expect(result).toMatchObject({ state: 'done', text: 'The sum is 5.' })
  expect(started.ran).toEqual([{ a: 2, b: 3 }])
  const body = parseJson(provider.seen[1]?.body ?? '')
  expect(sentTypes(isJsonObject(body) ? body : undefined)).toEqual([
    'message user',
    'function_call',
    'function_call_output',
  ])
})

test('what is sent is the exact text of the log, with the headers that a provider wants', async () => {
  const provider = await fakeProvider(streams(TEXT))
  const started = startHttpRun({ baseUrl: provider.baseUrl, headers: { 'X-Team': 'blue' } })
  const sent = await untilFrame(started.live, ({ type }) => type === 'request_sent')
  await started.live.result
  const [seen] = provider.seen
  expect([seen?.method, seen?.url]).toEqual(['POST', '/v1/responses'])
  expect(seen?.body).toBe('body' in sent ? sent.body : '')
  expect(seen?.headers).toMatchObject({
    authorization: `Bearer ${KEY}`,
    'content-type': 'application/json',
    accept: 'text/event-stream, application/json',
    'accept-encoding': 'identity',
    'idempotency-key': 'run_1/1/stateless',
    'user-agent': 'loopchart',
    'x-team': 'blue',
  })
})

test('a response that comes whole takes the same path as a stream', async () => {
  const body = fixture('text-then-call')
    .toString('utf8')
    .split('\n')
    .find((line) => line.startsWith('data: {"type":"response.completed"'))
  const { response } = JSON.parse(body?.slice(6) ?? '') as { response: unknown }
  const provider = await fakeProvider(jsonAnswer(response), streams(TEXT))
  const started = startHttpRun({ baseUrl: provider.baseUrl, stream: false })
  const { result } = await finishRun(started)
  expect(JSON.parse(provider.seen[0]?.body ?? '')).toMatchObject({ stream: false })
  expect(provider.seen[0]?.headers.accept).toBe('application/json')
  // The second came as a stream although it was not asked for: the content type says what it is.
  expect([result.state, started.ran.length]).toEqual(['done', 1])
})

test('the head is reported with the id that the provider gave the request', async () => {
  const provider = await fakeProvider(streams(TEXT))
  const heads: unknown[] = []
  const model = openResponses({ model: 'm-1', apiKey: KEY, baseUrl: provider.baseUrl })
  expect(await send(model, { onHead: (head) => heads.push(head) })).toBeNull()
  expect(heads).toEqual([{ status: 200, requestId: 'req_1', contentType: 'text/event-stream' }])
})

test('a body that is not wanted any further is dropped with its connection, and that is no fault', async () => {
  const provider = await fakeProvider(stallsAfter(TEXT))
  const clock = new ManualClock()
  const model = openResponses({ model: 'm-1', apiKey: KEY, baseUrl: provider.baseUrl, clock })
  expect(await send(model, { onChunk: () => false })).toBeNull()
  expect(clock.timersArmed).toBe(0)
  await allClosed(provider)
})

test('a body that comes from another fetch is cancelled when it is not wanted any further', async () => {
  let isCancelled = false
  const body = new ReadableStream({
    pull: (controller) => controller.enqueue(Buffer.from(TEXT)),
    cancel: () => {
      isCancelled = true
    },
  })
  const fetch = (): Promise<Response> => Promise.resolve(new Response(body))
  const model = openResponses({ model: 'm-1', apiKey: KEY, baseUrl: 'http://127.0.0.1/v1', fetch })
  expect(await send(model, { onChunk: () => false })).toBeNull()
  expect(isCancelled).toBe(true)
})

test('a redirect is dropped with its connection, however long its body', async () => {
  const provider = await fakeProvider((response) => {
    response.writeHead(302, { location: 'http://else.example/' }).write('and then')
  })
  const model = openResponses({ model: 'm-1', apiKey: KEY, baseUrl: provider.baseUrl })
  expect(await send(model)).toMatchObject({ code: 'redirect_refused' })
  await allClosed(provider)
})

async function allClosed(provider: { connections: () => Promise<number> }): Promise<void> {
  let open = 1
  await until(() => {
    void provider.connections().then((count) => (open = count))
    return open === 0
  })
}

function throwing(): never {
  throw new Error('a bug')
}

test('a callback that throws rejects, and leaves neither a timer nor a connection', async () => {
  const provider = await fakeProvider(stallsAfter(TEXT))
  const clock = new ManualClock()
  const model = openResponses({ model: 'm-1', apiKey: KEY, baseUrl: provider.baseUrl, clock })
  await expect(send(model, { onChunk: throwing })).rejects.toThrow('a bug')
  expect(clock.timersArmed).toBe(0)
  await allClosed(provider)
})

const UNFINISHED: readonly (readonly [string, Answer])[] = [
  ['before the headers', () => undefined],
  ['in the body', stallsAfter(CALL.slice(0, 2000))],
  ['in the body of an error', (response) => void response.writeHead(500).write('half')],
]

test.for(UNFINISHED)(
  'an aborted signal ends a request %s at once, with its timers, its listener and its connection',
  async ([where, answer]) => {
    const provider = await fakeProvider(answer)
    const clock = new ManualClock()
    const model = openResponses({ model: 'm-1', apiKey: KEY, baseUrl: provider.baseUrl, clock })
    const controller = new AbortController()
    const remove = vi.spyOn(controller.signal, 'removeEventListener')
    let hasBegun = false
    const begin = (): boolean => (hasBegun = true)
    const settled = send(model, { signal: controller.signal, onHead: begin, onChunk: begin })
    await until(() => provider.seen.length === 1 && (hasBegun || where === 'before the headers'))
    controller.abort()
    expect(await settled).toMatchObject({ code: 'request_aborted', isRetryable: false })
    expect(clock.timersArmed).toBe(0)
    expect(remove).toHaveBeenCalledWith('abort', expect.any(Function))
    await allClosed(provider)
  },
)

test('a signal that is aborted already sends nothing', async () => {
  const fetch = vi.fn<typeof globalThis.fetch>()
  const model = openResponses({ model: 'm-1', apiKey: KEY, baseUrl: 'http://127.0.0.1/v1', fetch })
  expect(await send(model, { signal: AbortSignal.abort() })).toMatchObject({ code: 'request_aborted' })
  expect(fetch).not.toHaveBeenCalled()
})

test('a fetch that does not listen to its signal holds nobody up, and its late body is dropped', async () => {
  const answer = Promise.withResolvers<Response>()
  const controller = new AbortController()
  const clock = new ManualClock()
  const model = openResponses({
    model: 'm-1',
    apiKey: KEY,
    baseUrl: 'http://127.0.0.1/v1',
    fetch: () => answer.promise,
    clock,
  })
  const settled = send(model, { signal: controller.signal })
  controller.abort()
  expect(await settled).toMatchObject({ code: 'request_aborted' })
  let isCancelled = false
  const body = new ReadableStream({
    cancel: () => {
      isCancelled = true
    },
  })
  answer.resolve(new Response(body))
  await until(() => isCancelled)
})

test('nothing listens for connections once no request is under way', async () => {
  const provider = await fakeProvider(streams(TEXT))
  const model = openResponses({ model: 'm-1', apiKey: KEY, baseUrl: provider.baseUrl })
  const before = channel('undici:request:create').hasSubscribers
  await Promise.all([send(model), send(model)])
  expect([before, channel('undici:request:create').hasSubscribers]).toEqual([false, false])
})

const failing = (): Promise<Response> => Promise.reject(new Error(`cannot send ${KEY}`))

test('a fetch that throws something of its own is told with what it said, without the key', async () => {
  const model = openResponses({ model: 'm-1', apiKey: KEY, baseUrl: 'http://127.0.0.1/v1', fetch: failing })
  expect(await send(model)).toMatchObject({
    code: 'request_failed',
    message: 'http://127.0.0.1/v1/responses: the request could not be sent (cannot send ***)',
    isRetryable: false,
  })
})

test('a redirect that a fetch hides is refused as well', async () => {
  const hidden = Object.defineProperties(new Response(null), {
    type: { value: 'opaqueredirect' },
    status: { value: 0 },
  })
  const fetch = (): Promise<Response> => Promise.resolve(hidden)
  const model = openResponses({ model: 'm-1', apiKey: KEY, baseUrl: 'http://127.0.0.1/v1', fetch })
  expect(await send(model)).toMatchObject({ code: 'redirect_refused', isRetryable: false })
})

test('a run id that no header can carry still gives one key for all tries of a request', async () => {
  const provider = await fakeProvider(refuses(500), streams(TEXT))
  const clock = new ManualClock()
  const model = openResponses({ model: 'm-1', apiKey: KEY, baseUrl: provider.baseUrl, clock })
  const made = agent({ model, clock, random: () => 0.5 })
  await finishRun({ live: run(made, 'hi', { runId: 'Grüße\r\nx: y' }), clock })
  expect(provider.seen).toHaveLength(2)
  const keys = provider.seen.map(({ headers }) => headers['idempotency-key'])
  expect(keys[0]).toMatch(/^[0-9a-f]{64}$/u)
  expect(new Set(keys).size).toBe(1)
})

test('the query of a base URL goes along, and is shown nowhere', async () => {
  const provider = await fakeProvider(refuses(400, errorBody('no')))
  const model = openResponses({ model: 'm-1', apiKey: KEY, baseUrl: `${provider.baseUrl}/?api-version=7` })
  const fault = await send(model)
  expect(provider.seen[0]?.url).toBe('/v1/responses?api-version=7')
  expect(model.endpoint + (fault?.message ?? '')).not.toContain('api-version')
})

test.for([
  ['no model', { model: '' }, 'model must name a model'],
  ['a base URL that is none', { baseUrl: 'localhost' }, 'baseUrl is no URL'],
  ['a base URL of another scheme', { baseUrl: 'ftp://host/v1' }, 'baseUrl must be http or https, not ftp:'],
  ['a base URL with a password', { baseUrl: 'https://me:hidden-word@host/v1' }, 'no user and no password'],
  ['a base URL that says too much', { baseUrl: 'https://host/v1/responses' }, 'must end before /responses'],
  ['a key with a line break', { apiKey: 'hidden-word\n' }, 'apiKey has a line break in it'],
  ['a key that is no ASCII', { apiKey: 'hidden-wörd' }, 'apiKey has a character that a header cannot carry'],
  ['a header with a line break', { headers: { a: 'hidden-word\r\nb: c' } }, 'headers.a has a line break'],
  ['a header without a name', { headers: { 'a b': 'hidden-word' } }, 'a name that no header can have'],
  ['a header of our own', { headers: { 'Content-Length': '1' } }, 'must not set content-length'],
  ['two keys', { apiKey: 'hidden-word', headers: { Authorization: 'x' } }, 'contradict each other'],
  ['an unknown profile', { profile: 'nobody' }, 'profile must be one of openai'],
  ['an unknown limit', { timeouts: { forever: 1 } }, 'timeouts.forever is not known'],
  ['a limit that is no time', { timeouts: { idleMs: Number.NaN } }, 'timeouts.idleMs must be a whole number'],
  ['a cap of nothing', { caps: { errorBytesMax: 0 } }, 'caps.errorBytesMax must be a whole number above 0'],
  ['a stream of maybe', { stream: 'yes' }, 'stream must be true or false'],
  ['a fetch that is none', { fetch: 'fetch' }, 'fetch must be a function'],
  [
    'no key where one is needed',
    { apiKey: undefined },
    'openai needs a key: set OPENAI_API_KEY, or pass apiKey',
  ],
] as const)('%s throws at once, and tells no secret', ([, wrong, says]) => {
  const options = { model: 'm-1', apiKey: KEY, ...wrong } as unknown as Parameters<typeof openResponses>[0]
  const thrown = catchIt(() => openResponses(options))
  expect(thrown).toBeInstanceOf(LoopchartError)
  expect(thrown).toMatchObject({ code: 'provider_invalid' })
  expect(String(thrown)).toContain(says)
  expect(String(thrown)).not.toMatch(/hidden/u)
})

function catchIt(work: () => unknown): unknown {
  try {
    return work()
  } catch (error) {
    return error
  }
}

/** The key that a model would send, without a network. */
async function keySent(options: Partial<Parameters<typeof openResponses>[0]>): Promise<string | null> {
  let sent: string | null = null
  const fetch: typeof globalThis.fetch = (_url, init) => {
    sent = new Headers(init?.headers).get('authorization')
    return Promise.resolve(new Response('', { status: 400 }))
  }
  await send(openResponses({ model: 'm-1', fetch, ...options }))
  return sent
}

test('the key of the environment goes to the base URL of the environment, and to no other', async () => {
  vi.stubEnv('OPENAI_API_KEY', 'sk-of-the-environment')
  expect(await keySent({})).toBe('Bearer sk-of-the-environment')
  expect(await keySent({ baseUrl: 'https://api.openai.com/v1' })).toBe('Bearer sk-of-the-environment')
  expect(await keySent({ baseUrl: 'http://api.openai.com/v1', profile: 'generic' })).toBeNull()
  expect(await keySent({ baseUrl: 'https://elsewhere.example/v1' })).toBeNull()
  expect(catchIt(() => openResponses({ model: 'm', baseUrl: 'https://openrouter.ai/api/v1' }))).toMatchObject(
    {
      message: 'openrouter needs a key: set OPENROUTER_API_KEY, or pass apiKey',
    },
  )
  expect(await keySent({ baseUrl: 'https://elsewhere.example/v1', profile: 'vllm' })).toBeNull()
  vi.stubEnv('OPENAI_BASE_URL', 'https://elsewhere.example/v1')
  expect(await keySent({})).toBe('Bearer sk-of-the-environment')
  expect(await keySent({ baseUrl: 'https://elsewhere.example/v2' })).toBe('Bearer sk-of-the-environment')
  expect(await keySent({ baseUrl: 'https://else.example/v1' })).toBeNull()
})

test('a provider that is known gets the key that is named after it', async () => {
  vi.stubEnv('OPENAI_API_KEY', 'sk-of-openai')
  vi.stubEnv('OPENROUTER_API_KEY', 'sk-of-openrouter')
  expect(await keySent({ profile: 'openrouter' })).toBe('Bearer sk-of-openrouter')
  // Taking somebody for OpenRouter does not give them its key.
  expect(
    catchIt(() => openResponses({ model: 'm', profile: 'openrouter', baseUrl: 'https://else.example/v1' })),
  ).toMatchObject({ code: 'provider_invalid' })
})

test('a refused request without a key says that none was sent, and why', async () => {
  vi.stubEnv('OPENAI_API_KEY', 'sk-of-the-environment')
  const provider = await fakeProvider(refuses(401))
  const fault = await send(openResponses({ model: 'm-1', baseUrl: provider.baseUrl }))
  expect(fault?.message).toContain(
    'the key was refused; none was sent: pass apiKey; OPENAI_API_KEY is sent only to OpenAI',
  )
  expect(provider.seen[0]?.headers.authorization).toBeUndefined()
})

test('an empty key sends none, where none is needed', async () => {
  vi.stubEnv('OPENAI_API_KEY', 'sk-of-the-environment')
  vi.stubEnv('OPENAI_BASE_URL', 'http://127.0.0.1:9999/v1')
  expect(await keySent({ apiKey: '' })).toBeNull()
})

test('a profile says what the provider cannot do', () => {
  const model = openResponses({ model: 'm-1', apiKey: KEY, profile: 'openrouter' })
  expect(model).toMatchObject({
    endpoint: 'https://openrouter.ai/api/v1/responses',
    profile: 'openrouter',
    canContinueById: false,
    unsupported: ['previous_response_id', 'store'],
    followUpMessage: null,
  })
})
