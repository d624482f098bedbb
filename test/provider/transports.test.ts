import { AsyncLocalStorage } from 'node:async_hooks'
import { Buffer } from 'node:buffer'
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'

import { expect, onTestFinished, test, vi } from 'vitest'
import { Agent, getGlobalDispatcher, MockAgent, setGlobalDispatcher, type Dispatcher } from 'undici'

import { openResponses } from '../../src/provider/open-responses.ts'
import { ManualClock } from '../manual-clock.ts'
import { finishRun, framesOf } from '../scripted-model.ts'
import {
  CALL,
  closedPort,
  errorBody,
  fakeProvider,
  KEY,
  rawServer,
  refuses,
  resetsAfter,
  stallsAfter,
  startHttpRun,
  streams,
  TEXT,
  until,
  type Answer,
  type HttpRun,
} from './fake-provider.ts'

const NO_RETRY = { retry: { times: 0 } }
// Not Node's own, and so not gone around.
const wrapped: typeof globalThis.fetch = (input, init) => fetch(input, init)

const SEND = {
  body: '{}',
  idempotencyKey: 'k',
  signal: new AbortController().signal,
  onHead: () => undefined,
  onChunk: () => true,
}

type Way = () => { readonly fetch?: typeof globalThis.fetch }

/** The ways to a provider. Each is taken from when it is called to the end of the test. */
const WAYS: readonly (readonly [string, Way])[] = [
  ['over sockets', overSockets],
  ['through a dispatcher', throughDispatcher],
  ['with a fetch', () => ({ fetch: wrapped })],
]
const PAST_FETCH = WAYS.slice(0, 2)

/** As when nobody has set anything: whoever imports undici has. */
function overSockets(): ReturnType<Way> {
  const symbol = Symbol.for('undici.globalDispatcher.1')
  const before: unknown = Reflect.get(globalThis, symbol)
  Reflect.set(globalThis, symbol, undefined)
  onTestFinished(() => {
    expect(Reflect.get(globalThis, symbol)).toBeUndefined()
    Reflect.set(globalThis, symbol, before)
  })
  return {}
}

function throughDispatcher(): ReturnType<Way> {
  let dispatched = 0
  const counting: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) => {
    dispatched += 1
    return dispatch(options, handler)
  }
  const agent = new Agent()
  putDispatcher(agent.compose(counting))
  onTestFinished(async () => {
    expect(dispatched).toBeGreaterThan(0)
    await agent.destroy()
  })
  return {}
}

function putDispatcher(dispatcher: Dispatcher): void {
  const before = getGlobalDispatcher()
  onTestFinished(() => setGlobalDispatcher(before))
  setGlobalDispatcher(dispatcher)
}

test.for(WAYS)('%s, a run ends well, and only a fetch says of itself that it is one', async ([name, way]) => {
  const provider = await fakeProvider(streams(CALL), streams(TEXT))
  const { result } = await finishRun(startHttpRun({ baseUrl: provider.baseUrl, ...way() }))
  expect(result).toMatchObject({ state: 'done', text: 'The sum is 5.' })
  const mode = name === 'with a fetch' ? 'cors' : undefined
  expect(provider.seen.map(({ headers }) => headers['sec-fetch-mode'])).toEqual([mode, mode])
})

test.for(WAYS)('%s, a body arrives as it is, whatever is in it', async ([, way]) => {
  const provider = await fakeProvider(streams(TEXT))
  const model = openResponses({ model: 'm-1', apiKey: KEY, baseUrl: provider.baseUrl, ...way() })
  const bodies = ['{"a":"plain"}', '{"a":"grüße 日本語 🎈"}', `{"a":"${'é'.repeat(100_000)}"}`, '']
  for (const body of bodies) await model.send({ ...SEND, body })
  expect(provider.seen.map(({ body }) => body)).toEqual(bodies)
  expect(provider.seen.map(({ headers }) => Number(headers['content-length']))).toEqual(
    bodies.map((body) => Buffer.byteLength(body)),
  )
})

test('a fetch that somebody put in the place of Node’s is used, from then on and until it is taken back', async () => {
  const provider = await fakeProvider(streams(TEXT))
  const model = openResponses({ model: 'm-1', apiKey: KEY, baseUrl: provider.baseUrl })
  const send = (): Promise<unknown> => model.send(SEND)
  const own = globalThis.fetch
  const put = vi.fn<typeof globalThis.fetch>((input, init) => own(input, init))
  vi.stubGlobal('fetch', put)
  try {
    await send()
  } finally {
    vi.unstubAllGlobals()
  }
  await send()
  expect([put.mock.calls.length, provider.seen.length]).toEqual([1, 2])
})

test('a dispatcher that was set for fetch is the one that is used', async () => {
  const mock = new MockAgent()
  mock.disableNetConnect()
  mock
    .get('http://provider.invalid')
    .intercept({ path: '/v1/responses', method: 'POST' })
    .reply(200, TEXT, { headers: { 'content-type': 'text/event-stream' } })
  putDispatcher(mock)
  const { result } = await finishRun(startHttpRun({ baseUrl: 'http://provider.invalid/v1' }))
  expect(result).toMatchObject({ state: 'done', text: 'The sum is 5.' })
})

const PACKED: readonly (readonly [string, (text: string) => Buffer])[] = [
  ['gzip', gzipSync],
  ['x-gzip', gzipSync],
  ['deflate', deflateSync],
  ['deflate', deflateRawSync],
  ['br', brotliCompressSync],
]

test.for(
  WAYS.flatMap(([name, way]) => PACKED.map(([encoding, pack]) => [name, encoding, way, pack] as const)),
)('%s, a stream that came as %s is read as it was before', async ([, encoding, way, pack]) => {
  const packed = pack(TEXT)
  const provider = await fakeProvider((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': encoding })
    for (const byte of packed) response.write(Buffer.of(byte))
    response.end()
  })
  const { result } = await finishRun(startHttpRun({ baseUrl: provider.baseUrl, ...way() }))
  expect(result).toMatchObject({ state: 'done', text: 'The sum is 5.' })
})

/** What goes wrong on the way, and what it is called; the same for all ways. */
const FAULTS: readonly (readonly [string, Answer, string])[] = [
  ['a reset in the body', resetsAfter(Buffer.from(CALL.slice(0, 700))), 'connection_lost'],
  ['a reset before the head', (_, request) => void request.socket.resetAndDestroy(), 'connection_lost'],
  ['a redirect', refuses(307, '', { location: 'http://else.example/' }), 'redirect_refused'],
  ['a refusal', refuses(400, errorBody('no such thing')), 'request_refused'],
  ['a success without a body', refuses(204), 'response_unreadable'],
  ['a page', refuses(200, '<html>', { 'content-type': 'text/html' }), 'response_unreadable'],
  [
    'a body that is shorter than it says',
    (response, request) => {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'content-length': '9999' })
      response.write('data: 1\n\n', () => request.socket.end())
    },
    'connection_lost',
  ],
]

test.for(
  WAYS.flatMap(([name, way]) =>
    FAULTS.map(([fault, answer, code]) => [name, fault, code, way, answer] as const),
  ),
)('%s, %s ends the run as %s, and leaves no timer', async ([, , code, way, answer]) => {
  const provider = await fakeProvider(answer)
  const started = startHttpRun({ baseUrl: provider.baseUrl, ...way() }, NO_RETRY)
  const { result } = await finishRun(started)
  expect(result).toMatchObject({ state: 'failed', reason: code })
  expect([started.ran.length, started.clock.timersArmed]).toEqual([0, 0])
})

test.for(WAYS)('%s, a port that nothing listens on is connect_failed', async ([, way]) => {
  const baseUrl = `http://127.0.0.1:${await closedPort()}/v1`
  const { result } = await finishRun(startHttpRun({ baseUrl, ...way() }, NO_RETRY))
  expect(result).toMatchObject({ state: 'failed', reason: 'connect_failed' })
})

test.for(WAYS)('%s, what is no HTTP is response_unreadable', async ([, way]) => {
  const port = await rawServer((socket) => socket.on('data', () => socket.write('SSH-2.0-OpenSSH\r\n\r\n')))
  const baseUrl = `http://127.0.0.1:${port}/v1`
  const { result } = await finishRun(startHttpRun({ baseUrl, ...way() }, NO_RETRY))
  expect(result).toMatchObject({ state: 'failed', reason: 'response_unreadable' })
})

const limitOf = ({ clock }: HttpRun): number | undefined => clock.armed[0]

test.for(WAYS)('%s, a connection that never stands is given up after the connect limit', async ([, way]) => {
  let greeted = 0
  const port = await rawServer((socket) => socket.on('data', () => (greeted += 1)))
  const started = startHttpRun({ baseUrl: `https://127.0.0.1:${port}/v1`, ...way() }, NO_RETRY)
  await until(() => greeted > 0)
  started.clock.advance((limitOf(started) ?? 0) - started.clock.now())
  expect(await started.live.result).toMatchObject({ state: 'failed', reason: 'connect_timeout' })
})

test.for(WAYS)('%s, a request that is taken back while it waits never goes out', async ([, way]) => {
  // Takes connections and lets TLS wait: the request is queued behind it.
  let greeted = 0
  const port = await rawServer((socket) => socket.on('data', () => (greeted += 1)))
  const started = startHttpRun({ baseUrl: `https://127.0.0.1:${port}/v1`, ...way() }, NO_RETRY)
  await until(() => greeted > 0)
  await started.live.cancel()
  expect(await started.live.result).toMatchObject({ state: 'cancelled' })
  expect(started.clock.timersArmed).toBe(0)
})

test.for(PAST_FETCH)(
  '%s, chunks that come at once are read at once, and later ones later',
  async ([, way]) => {
    const hold: { go: () => void } = { go: () => undefined }
    const provider = await fakeProvider((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      for (const letter of TEXT.slice(0, 300)) response.write(letter)
      hold.go = () => void response.end(TEXT.slice(300))
    })
    const clock = new ManualClock()
    const model = openResponses({ model: 'm-1', apiKey: KEY, baseUrl: provider.baseUrl, clock, ...way() })
    const chunks: string[] = []
    const settled = model.send({
      ...SEND,
      onChunk: (chunk) => chunks.push(Buffer.from(chunk).toString()) > 0,
    })
    await until(() => chunks.join('').length === 300)
    expect(chunks.length).toBeLessThan(150)
    hold.go()
    expect(await settled).toBeNull()
    expect(chunks.join('')).toBe(TEXT)
  },
)

test.for(WAYS)('%s, a head before the head is passed over', async ([, way]) => {
  const provider = await fakeProvider((response) => {
    response.writeEarlyHints({ link: '</a>; rel=preload' })
    streams(TEXT)(response, {} as never)
  })
  const { result, frames } = await finishRun(startHttpRun({ baseUrl: provider.baseUrl, ...way() }))
  expect(result.state).toBe('done')
  expect(framesOf(frames, 'response_headers').map(({ status }) => status)).toEqual([200])
})

test.for(WAYS)('%s, a stream that is cancelled takes its connection with it', async ([, way]) => {
  const provider = await fakeProvider(stallsAfter(CALL.slice(0, 2000)))
  const started = startHttpRun({ baseUrl: provider.baseUrl, ...way() })
  await until(() => started.live.state === 'working.responding.streaming')
  await started.live.cancel()
  expect(await started.live.result).toMatchObject({ state: 'cancelled' })
  let open = 1
  await until(() => {
    void provider.connections().then((count) => (open = count))
    return open === 0
  })
})

test.for(PAST_FETCH)(
  '%s, a compressed body that ends before the response does leaves no connection behind',
  async ([, way]) => {
    const padded = Buffer.concat([gzipSync(TEXT), Buffer.alloc(8)])
    const provider = await fakeProvider((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' })
      response.write(padded)
    })
    const model = openResponses({ model: 'm-1', apiKey: KEY, baseUrl: provider.baseUrl, ...way() })
    const chunks: string[] = []
    const onChunk = (chunk: Uint8Array): boolean => chunks.push(Buffer.from(chunk).toString()) > 0
    expect(await model.send({ ...SEND, onChunk })).toBeNull()
    expect(chunks.join('')).toBe(TEXT)
    let open = 1
    await until(() => {
      void provider.connections().then((count) => (open = count))
      return open === 0
    })
  },
)

test.for(['constructor', '__proto__'])(
  'an encoding by the name of %s is none that is read, and the error is',
  async (encoding) => {
    overSockets()
    const body = errorBody('no credit is left', 'insufficient_quota')
    const provider = await fakeProvider(refuses(429, body, { 'content-encoding': encoding }))
    const model = openResponses({ model: 'm-1', apiKey: KEY, baseUrl: provider.baseUrl })
    expect(await model.send(SEND)).toMatchObject({
      isRetryable: false,
      provider: { message: 'no credit is left' },
    })
  },
)

const SENT_AS = [
  ['as it is', 'identity', Buffer.from(TEXT)],
  ['compressed', 'gzip', gzipSync(TEXT)],
] as const

test.for(WAYS.flatMap(([name, way]) => SENT_AS.map((sent) => [name, sent[0], way, sent] as const)))(
  '%s, what comes back %s is told in the async context of who sent the request',
  async ([, , way, [, encoding, bytes]]) => {
    const provider = await fakeProvider(streams(bytes, { 'content-encoding': encoding }))
    const model = openResponses({ model: 'm-1', apiKey: KEY, baseUrl: provider.baseUrl, ...way() })
    const user = new AsyncLocalStorage<string>()
    const seen: (string | undefined)[] = []
    const note = (): boolean => seen.push(user.getStore()) > 0
    const send = (): Promise<unknown> => model.send({ ...SEND, onHead: note, onChunk: note })
    // One after the other, over the connection that the first has opened.
    for (const name of ['ann', 'bob', 'cy']) await user.run(name, send)
    expect([...new Set(seen)]).toEqual(['ann', 'bob', 'cy'])
    expect(seen.length).toBeGreaterThan(5)
  },
)
