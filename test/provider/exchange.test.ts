import { expect, test } from 'vitest'

import { exchange } from '../../src/provider/exchange.ts'
import { openResponses, type SendOptions } from '../../src/provider/open-responses.ts'
import { createRedactor } from '../../src/provider/secrets.ts'
import { CAPS, STREAM_TIMEOUTS } from '../../src/provider/timeouts.ts'
import { ManualClock } from '../manual-clock.ts'

const SEND: SendOptions = {
  body: '{}',
  idempotencyKey: 'a',
  signal: new AbortController().signal,
  onHead: () => undefined,
  onChunk: () => true,
}

function send(callbacks: Partial<SendOptions>): Promise<unknown> {
  const model = openResponses({
    model: 'm',
    baseUrl: 'http://127.0.0.1:9/v1',
    apiKey: 'k',
    fetch: () =>
      Promise.resolve(new Response('data: 1\n\n', { headers: { 'content-type': 'text/event-stream' } })),
  })
  return model.send({ ...SEND, ...callbacks })
}

const throws = (): never => {
  throw new RangeError('a bug')
}

test.for([
  ['head', { onHead: throws }],
  ['body', { onChunk: throws }],
] as const)('whoever throws when told of the %s is told of it', async ([, callbacks]) => {
  await expect(send(callbacks)).rejects.toThrow(RangeError)
})

test.for(['onHead', 'onChunk'] as const)(
  '%s that lets go and then throws is an end like any other',
  async (name) => {
    const caller = new AbortController()
    const callback = (): never => {
      caller.abort()
      return throws()
    }
    // A rejection that nobody hears of would fail this test as well.
    expect(await send({ signal: caller.signal, [name]: callback })).toMatchObject({ code: 'request_aborted' })
  },
)

const KEY = 'sk-secret-0123456789abcdef'
const ERROR_BYTES_MAX = 1000

// Where a key may be cut: by the end of what is read of an error, and by a body that breaks off.
test.for([
  [
    'has the key where what is told of it ends',
    `${' '.repeat(ERROR_BYTES_MAX - 2 * KEY.length + 1)}${KEY}${'.'.repeat(5000)}`,
    'whole',
  ],
  [
    'goes on behind what is read of it',
    `${' '.repeat(ERROR_BYTES_MAX - 10)}${KEY}${'.'.repeat(5000)}`,
    'whole',
  ],
  ['breaks off within the key', `bad key: ${KEY.slice(0, -1)}`, 'broken'],
  ['breaks off at the first letters of the key', `bad key: ${KEY.slice(0, 6)}`, 'broken'],
] as const)('an error that %s says nothing of the key', async ([, text, end]) => {
  const model = openResponses({
    model: 'm',
    baseUrl: 'http://127.0.0.1:9/v1',
    apiKey: KEY,
    caps: { errorBytesMax: ERROR_BYTES_MAX },
    fetch: () => Promise.resolve(new Response(streamOf(text, end), { status: 401 })),
  })
  const fault = await model.send({ ...SEND })
  expect(fault?.code).toBe('key_refused')
  expect(JSON.stringify(fault)).not.toContain(KEY.slice(0, 4))
})

test('an error that ends as it should keeps its last words, also where they begin as the key does', async () => {
  const model = openResponses({
    model: 'm',
    baseUrl: 'http://127.0.0.1:9/v1',
    apiKey: KEY,
    fetch: () => Promise.resolve(new Response(streamOf('a key begins with sk-', 'whole'), { status: 401 })),
  })
  expect((await model.send({ ...SEND }))?.body).toBe('a key begins with sk-')
})

function streamOf(text: string, end: 'whole' | 'broken'): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode(text))
      if (end === 'whole') controller.close()
    },
    // Once what came before was read.
    pull: (controller) => (end === 'broken' ? controller.error(new TypeError('terminated')) : undefined),
  })
}

const misconfigured = (): never => {
  throw new TypeError('no such cipher')
}

test('a transport that throws at once is a fault, and nothing of the request is left', async () => {
  const clock = new ManualClock()
  const wire = { transport: misconfigured, clock, timeouts: STREAM_TIMEOUTS, caps: CAPS }
  const request = {
    method: 'POST',
    url: new URL('http://127.0.0.1:9/'),
    headers: {},
    idempotencyKey: null,
    body: '{}',
    place: { url: 'http://127.0.0.1:9/', keyAdvice: '', redact: createRedactor([]) },
    expects: 'stream',
    signal: SEND.signal,
    onHead: () => undefined,
    onChunk: () => true,
  } as const
  expect(await exchange(wire, request)).toMatchObject({
    code: 'request_failed',
    message: expect.stringContaining('no such cipher'),
  })
  expect(clock.timersArmed).toBe(0)
})
