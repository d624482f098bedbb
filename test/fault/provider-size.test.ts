import { Buffer } from 'node:buffer'
import { gzipSync } from 'node:zlib'

import { expect, test } from 'vitest'

import {
  CALL,
  fakeProvider,
  KEY,
  rawServer,
  refuses,
  startHttpRun,
  streams,
  TEXT,
  until,
  type Answer,
} from '../provider/fake-provider.ts'
import { finishRun } from '../scripted-model.ts'

const MIB = 1024 * 1024
const SSE = { 'content-type': 'text/event-stream' }

/** Writes the same piece for as long as anybody reads, and counts the bytes. */
function endless(
  start: string,
  piece: Buffer,
): { answer: Answer; sent: () => number; isClosed: () => boolean } {
  let sent = 0
  let isClosed = false
  return {
    sent: () => sent,
    isClosed: () => isClosed,
    answer: (response) => {
      response.on('close', () => {
        isClosed = true
      })
      response.writeHead(200, SSE).write(start)
      const more = (): void => {
        let isRoom = true
        while (isRoom && !response.destroyed) {
          isRoom = response.write(piece)
          sent += piece.length
        }
        if (!response.destroyed) response.once('drain', more)
      }
      more()
    },
  }
}

test('fault P12: a line without an end stops at the event limit, and the connection is dropped', async () => {
  const { answer, sent, isClosed } = endless('data: ', Buffer.alloc(64 * 1024, 'x'))
  const provider = await fakeProvider(answer)
  const started = startHttpRun(provider, { streamLimits: { eventBytesMax: 2 * MIB } })
  const { result } = await finishRun(started)
  expect(result).toMatchObject({ state: 'failed', reason: 'event_too_large' })
  await until(isClosed)
  // What was on its way in the buffers of two sockets is the most that may be over.
  expect(sent()).toBeLessThan(16 * MIB)
  expect([provider.seen.length, started.ran.length, started.clock.timersArmed]).toEqual([1, 0, 0])
})

test('fault P13: a stream of endless deltas stops at the response limit, and the connection is dropped', async () => {
  const delta =
    'data: {"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"a"}\n\n'
  const { answer, sent, isClosed } = endless('', Buffer.from(delta.repeat(500)))
  const provider = await fakeProvider(answer)
  const started = startHttpRun(provider, { streamLimits: { responseBytesMax: 2 * MIB } })
  const { result } = await finishRun(started)
  expect(result).toMatchObject({ state: 'failed', reason: 'response_too_large' })
  await until(isClosed)
  expect(sent()).toBeLessThan(16 * MIB)
  expect([provider.seen.length, started.ran.length]).toEqual([1, 0])
})

test('fault P13: a response that comes whole stops at the response limit too', async () => {
  const provider = await fakeProvider((response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(`{"x":"${'x'.repeat(3 * MIB)}"}`)
  })
  const started = startHttpRun(
    { baseUrl: provider.baseUrl, stream: false },
    { streamLimits: { responseBytesMax: 2 * MIB } },
  )
  const { result } = await finishRun(started)
  expect(result).toMatchObject({ state: 'failed', reason: 'response_too_large' })
  expect(provider.seen).toHaveLength(1)
})

test('fault P14: a stream is asked for without compression, and one that is compressed all the same is read', async () => {
  const provider = await fakeProvider(streams(gzipSync(TEXT), { 'content-encoding': 'gzip' }))
  const { result } = await finishRun(startHttpRun(provider))
  expect(provider.seen[0]?.headers['accept-encoding']).toBe('identity')
  expect(result).toMatchObject({ state: 'done', text: 'The sum is 5.' })
})

test('fault P14: a stream that unpacks to far more than it is stops at the limit of what it unpacks to', async () => {
  const bomb = gzipSync(Buffer.concat([Buffer.from('data: '), Buffer.alloc(64 * MIB, 'x')]))
  expect(bomb.length).toBeLessThan(MIB)
  const provider = await fakeProvider(streams(bomb, { 'content-encoding': 'gzip' }))
  const started = startHttpRun(provider, { streamLimits: { eventBytesMax: MIB } })
  const { result } = await finishRun(started)
  expect(result).toMatchObject({ state: 'failed', reason: 'event_too_large' })
  expect([provider.seen.length, started.clock.timersArmed]).toEqual([1, 0])
})

test('fault P14: an error that unpacks to far more than it is is cut off at the cap', async () => {
  const bomb = gzipSync(Buffer.alloc(32 * MIB, 'x'))
  const provider = await fakeProvider(refuses(400, '', {}), (response) => {
    response.writeHead(400, { 'content-encoding': 'gzip' }).end(bomb)
  })
  const { live, model } = startHttpRun(provider)
  await live.result
  const fault = await model.send({
    body: '{}',
    idempotencyKey: 'k',
    signal: new AbortController().signal,
    onHead: () => undefined,
    onChunk: () => true,
  })
  expect(fault?.body).toHaveLength(65_536 - KEY.length)
})

test.for([
  ['two encodings', 'gzip, gzip'],
  ['a thousand encodings', Array.from({ length: 1000 }, () => 'gzip').join(', ')],
  ['an encoding that nobody knows', 'lzma'],
] as const)('fault P14: %s are refused, and not tried again', async ([, encoding]) => {
  const provider = await fakeProvider(streams(gzipSync(CALL), { 'content-encoding': encoding }))
  const started = startHttpRun(provider)
  const { result } = await finishRun(started)
  expect(result).toMatchObject({ state: 'failed', reason: 'response_unreadable' })
  expect(result.message.length).toBeLessThan(600)
  expect([provider.seen.length, started.ran.length]).toEqual([1, 0])
})

test('fault P14: a body that is not compressed as it says ends the run as response_unreadable', async () => {
  const provider = await fakeProvider(streams(CALL, { 'content-encoding': 'gzip' }))
  const started = startHttpRun(provider)
  const { result } = await finishRun(started)
  expect(result).toMatchObject({ state: 'failed', reason: 'response_unreadable' })
  expect(started.ran).toEqual([])
})

test('fault P14: a compressed stream that stops in the middle is a lost connection', async () => {
  const packed = gzipSync(CALL)
  const provider = await fakeProvider(
    streams(packed.subarray(0, packed.length - 40), { 'content-encoding': 'gzip' }),
    streams(CALL),
    streams(TEXT),
  )
  const started = startHttpRun(provider)
  const { result } = await finishRun(started)
  expect([result.state, provider.seen.length, started.ran.length]).toEqual(['done', 3, 1])
})

test.for([301, 302, 303, 307, 308])(
  'fault P14: a redirect of status %i is not followed, and the other place sees neither key nor request',
  async (status) => {
    const other = await fakeProvider(streams(TEXT))
    const location = `${other.baseUrl}/responses?token=secret`
    const provider = await fakeProvider(refuses(status, 'moved', { location }))
    const { result } = await finishRun(startHttpRun(provider))
    expect(result).toMatchObject({ state: 'failed', reason: 'redirect_refused' })
    expect(result.message).toContain(`answered ${status} and points to ${new URL(other.baseUrl).origin}`)
    expect(result.message).not.toContain('secret')
    expect([provider.seen.length, other.seen.length]).toEqual([1, 0])
    expect(provider.seen[0]?.headers.authorization).toBe(`Bearer ${KEY}`)
  },
)

test('fault P14: a redirect to the address of cloud metadata is not followed', async () => {
  const location = 'http://169.254.169.254/latest/meta-data/'
  const provider = await fakeProvider(refuses(307, '', { location }))
  const { result } = await finishRun(startHttpRun(provider))
  expect(result.reason).toBe('redirect_refused')
})

test.for([
  ['text/html; charset=utf-8', '<html><title>Log in</title></html>'],
  ['text/plain', 'OK'],
  ['image/png', 'PNG'],
])('fault P14: a success with %s is no response, and is not tried again', async ([type, body]) => {
  const provider = await fakeProvider(refuses(200, body, { 'content-type': type ?? '' }))
  const { result } = await finishRun(startHttpRun(provider))
  expect(result).toMatchObject({ state: 'failed', reason: 'response_unreadable' })
  expect(result.message).toContain(`answered 200 with ${type}, not with an event stream or JSON`)
  expect(result.message).toContain('check the base URL')
  expect(provider.seen).toHaveLength(1)
})

test('fault P14: a success without a body is no response', async () => {
  const provider = await fakeProvider(refuses(204))
  const { result } = await finishRun(startHttpRun(provider))
  expect(result).toMatchObject({ state: 'failed', reason: 'response_unreadable' })
})

test('fault P14: headers that are too large end the run as response_unreadable', async () => {
  const provider = await fakeProvider(streams(CALL, { 'x-large': 'x'.repeat(100_000) }))
  const started = startHttpRun(provider)
  const { result } = await finishRun(started)
  expect(result).toMatchObject({ state: 'failed', reason: 'response_unreadable' })
  expect(result.message).toContain('its headers are too large')
  expect([provider.seen.length, started.ran.length]).toEqual([1, 0])
})

test('fault P14: an answer that is not HTTP ends the run as response_unreadable', async () => {
  const port = await rawServer((socket) => {
    socket.once('data', () => socket.end('SSH-2.0-OpenSSH_9.2\r\n'))
  })
  const { result } = await finishRun(startHttpRun({ baseUrl: `http://127.0.0.1:${port}/v1` }))
  expect(result).toMatchObject({ state: 'failed', reason: 'response_unreadable' })
  expect(result.message).toContain('what came back is not HTTP')
})
