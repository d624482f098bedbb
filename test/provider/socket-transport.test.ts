import { Buffer } from 'node:buffer'
import { randomBytes } from 'node:crypto'
import { gzipSync } from 'node:zlib'

import { expect, test } from 'vitest'

import { socketTransport } from '../../src/provider/socket-transport.ts'
import type { TransportRequest } from '../../src/provider/transport.ts'
import { fakeProvider, meanwhile, rawServer, refuses } from './fake-provider.ts'

interface Told {
  readonly calls: readonly string[]
  readonly error: unknown
}

/** Sends a request, and gives back in which order it was told what. */
function send(request: Partial<TransportRequest> & Pick<TransportRequest, 'url'>): Promise<Told> {
  const calls: string[] = []
  return new Promise((resolve) => {
    socketTransport(
      { method: 'POST', headers: {}, idempotencyKey: null, body: '{}', ...request },
      {
        onQueued: () => calls.push('queued'),
        onConnected: () => calls.push('connected'),
        onHead: (status) => calls.push(`head ${status}`),
        onChunk: (chunk) => calls.push(`chunk ${Buffer.from(chunk).toString()}`),
        onEnd: () => resolve({ calls: [...calls, 'end'], error: null }),
        onError: (error) => resolve({ calls: [...calls, 'error'], error }),
      },
    )
  })
}

test('a request waits for its connection, and the next has it at once', async () => {
  const provider = await fakeProvider(refuses(200, 'ok', { 'content-length': '2' }))
  const url = new URL(provider.baseUrl)
  const rest = ['connected', 'head 200', 'chunk ok', 'end']
  expect((await send({ url })).calls).toEqual(['queued', ...rest])
  expect((await send({ url })).calls).toEqual(rest)
  // Another address at the same place.
  expect((await send({ url: new URL(`${provider.baseUrl}/more?a=1#b`) })).calls).toEqual(rest)
  expect(provider.seen.map(({ url: path }) => path)).toEqual(['/v1', '/v1', '/v1/more?a=1'])
})

test('a request is written with its headers, its length and its body, and one without a body has no length', async () => {
  const provider = await fakeProvider(refuses(200, 'ok'))
  const url = new URL(provider.baseUrl)
  await send({ url, headers: { 'x-a': '1', accept: 'text/plain; a="b"\tc' }, body: '{"a":1}' })
  await send({ url, method: 'GET', body: null })
  const common = { host: url.host, connection: 'keep-alive' }
  expect(provider.seen).toEqual([
    {
      method: 'POST',
      url: '/v1',
      headers: { ...common, 'x-a': '1', accept: 'text/plain; a="b"\tc', 'content-length': '7' },
      body: '{"a":1}',
    },
    { method: 'GET', url: '/v1', headers: common, body: '' },
  ])
})

const TEXTS = ['', 'plain', 'grüße', '\u00ff', '日本語 🎈 \u0000', 'x'.repeat(200_000), 'é'.repeat(200_000)]

test.for(TEXTS.map((text) => [text.slice(0, 10), text] as const))(
  'a body that begins with "%s" has the length of its bytes, and arrives as it is',
  async ([, body]) => {
    const provider = await fakeProvider(refuses(200, 'ok'))
    const url = new URL(provider.baseUrl)
    // Twice over one connection: what was too long or too short would be seen by the second.
    await send({ url, body })
    await send({ url, body })
    const length = String(Buffer.byteLength(body))
    expect(
      provider.seen.map(({ headers, body: seen }) => [headers['content-length'], seen === body]),
    ).toEqual([
      [length, true],
      [length, true],
    ])
  },
)

test.for([
  ['a value with a line break', { 'x-a': '1\r\nx-b: 2' }],
  ['a value with a bare line end', { 'x-a': '1\nx-b: 2' }],
  ['a value with a bare return', { 'x-a': '1\rx-b: 2' }],
  ['a value with a NUL', { 'x-a': '1\u0000' }],
  ['a value that is not ASCII', { 'x-a': 'é' }],
  ['a value whose line break hides in another character', { 'x-a': '1\u010d\u010ax-b: 2' }],
  ['a name with a line break', { 'x-a: 1\r\nx-b': '2' }],
  ['a name with a colon', { 'x-a:': '2' }],
  ['a name with a blank', { 'x a': '2' }],
] as const)('nothing of a request that has a header of %s is sent', async ([, headers]) => {
  let bytes = 0
  const port = await rawServer((socket) => socket.on('data', (piece: Buffer) => (bytes += piece.length)))
  const { calls, error } = await send({ url: new URL(`http://127.0.0.1:${port}/`), headers: { ...headers } })
  expect(calls.at(-1)).toBe('error')
  expect(String(error)).toContain('has a character that it cannot carry')
  await meanwhile()
  expect(bytes).toBe(0)
})

test('compressed bodies that come at once are not mixed', async () => {
  // Nothing that could be made shorter: each is read many times.
  const texts = Array.from({ length: 8 }, () => randomBytes(300_000).toString('hex'))
  const provider = await fakeProvider((response, request) => {
    const text = texts[Number(request.url?.slice(1))] ?? ''
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(text))
  })
  const told = await Promise.all(texts.map((_, at) => send({ url: new URL(`/${at}`, provider.baseUrl) })))
  const bodies = told.map(({ calls }) =>
    calls.map((call) => (call.startsWith('chunk ') ? call.slice(6) : '')).join(''),
  )
  expect(told.map(({ calls }) => calls.at(-1))).toEqual(texts.map(() => 'end'))
  expect(bodies.map((body, at) => body === texts[at])).toEqual(texts.map(() => true))
})

test('a request that is taken back is told nothing more', async () => {
  const provider = await fakeProvider(refuses(200, 'ok'))
  const told: string[] = []
  const tell = (what: string) => (): void => void told.push(what)
  const takeBack = socketTransport(
    { method: 'POST', url: new URL(provider.baseUrl), headers: {}, idempotencyKey: null, body: '{}' },
    {
      onQueued: tell('queued'),
      onConnected: tell('connected'),
      onHead: tell('head'),
      onChunk: tell('chunk'),
      onEnd: tell('end'),
      onError: tell('error'),
    },
  )
  takeBack()
  takeBack()
  await meanwhile()
  expect([told, provider.seen.length, await provider.connections()]).toEqual([['queued'], 0, 0])
})
