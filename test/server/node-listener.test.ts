import { once } from 'node:events'
import type { Socket } from 'node:net'

import { expect, test } from 'vitest'

import { nodeListener, type FetchHandler } from '../../src/server/node-listener.ts'
import { ManualClock } from '../manual-clock.ts'
import { chunkOf, openRaw, requestText, serveListener } from './socket-kit.ts'

const GET = requestText('GET / HTTP/1.1', ['Host: x'])
const MIB = 1024 * 1024

/** A handler that tells which requests reached it. */
function noting(answer: (request: Request) => Response | Promise<Response>): FetchHandler & {
  readonly reached: Request[]
} {
  const reached: Request[] = []
  return {
    reached,
    fetch: async (request) => {
      reached.push(request)
      return answer(request)
    },
  }
}

/** A body without an end, which tells how much was asked of it and when it was cancelled. */
function endless(): { body: ReadableStream<Uint8Array>; pulled: () => number; cancelled: Promise<void> } {
  const { promise: cancelled, resolve } = Promise.withResolvers<void>()
  let pulled = 0
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        pulled += 64 * 1024
        controller.enqueue(new Uint8Array(64 * 1024))
      },
      cancel: () => resolve(),
    },
    { highWaterMark: 0 },
  )
  return { body, pulled: () => pulled, cancelled }
}

/** A body that says one thing and then nothing more. */
function quiet(): { body: ReadableStream<Uint8Array>; cancelled: Promise<void> } {
  const { promise: cancelled, resolve } = Promise.withResolvers<void>()
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(Buffer.from('hello')),
    cancel: () => resolve(),
  })
  return { body, cancelled }
}

test.for([
  ['two Hosts', requestText('GET / HTTP/1.1', ['Host: x', 'Host: y'])],
  ['the same Host twice', requestText('GET / HTTP/1.1', ['Host: x', 'host: x'])],
  ['no Host', requestText('GET / HTTP/1.0', [])],
  ['an empty Host', requestText('GET / HTTP/1.1', ['Host: '])],
  ['a Host with a path', requestText('GET / HTTP/1.1', ['Host: x/y'])],
  ['a Host with a user', requestText('GET / HTTP/1.1', ['Host: x@y'])],
  ['an absolute target', requestText('GET http://x/ HTTP/1.1', ['Host: x'])],
  ['an absolute target of another scheme', requestText('GET ftp://x/ HTTP/1.1', ['Host: x'])],
  ['an asterisk', requestText('OPTIONS * HTTP/1.1', ['Host: x'])],
])('fault S06: a request with %s is refused before the handler sees it', async ([, text]) => {
  const handler = noting(() => new Response('reached'))
  const { port } = await serveListener(nodeListener(handler))
  const { until } = openRaw(port, text)
  expect(await until(/\}$|0\r\n\r\n$/u)).toMatch(/^HTTP\/1\.1 400 /u)
  expect(handler.reached).toEqual([])
})

test('a method that a web request cannot have is refused, and the connection lives on', async () => {
  const handler = noting(() => new Response('reached'))
  const { port } = await serveListener(nodeListener(handler))
  const { socket, until } = openRaw(port, requestText('TRACE / HTTP/1.1', ['Host: x']))
  expect(await until(/0\r\n\r\n$/u)).toMatch(/^HTTP\/1\.1 400 /u)
  socket.write(GET)
  expect(await until(/reached/u)).toContain('HTTP/1.1 200 ')
})

test('a request arrives as it was sent: method, whole target, each header, body', async () => {
  const handler = noting(async (request) => new Response(await request.text(), { status: 201 }))
  const { port } = await serveListener(nodeListener(handler))
  const headers = ['Host: x:81', 'X-A: 1', 'X-A: 2', 'Transfer-Encoding: chunked']
  const body = `${chunkOf('hel')}${chunkOf('lo')}0\r\n\r\n`
  const { until } = openRaw(port, requestText('PUT //a/../b?c=d%20e HTTP/1.1', headers, body))
  expect(await until(/hello/u)).toMatch(/^HTTP\/1\.1 201 /u)
  expect(handler.reached.map(({ method, url }) => [method, url])).toEqual([['PUT', 'http://x:81//b?c=d%20e']])
  expect(handler.reached[0]?.headers.get('x-a')).toBe('1, 2')
})

test('fault S01: of a body that a client does not take, at most 1 MiB waits, and nothing further is asked for', async () => {
  const clock = new ManualClock()
  const source = endless()
  const handler = noting(() => new Response(source.body))
  const { server, port } = await serveListener(nodeListener(handler, { clock, stalledMs: 60_000 }))
  const connected = once(server, 'connection') as Promise<[Socket]>
  const { socket } = openRaw(port, GET)
  socket.pause()
  const [held] = await connected
  // The kernel takes what it has room for; then all stands still.
  let before = -1
  await expect
    .poll(
      () => {
        const isStill = source.pulled() === before && clock.timersArmed === 1
        before = source.pulled()
        return isStill
      },
      { timeout: 20_000, interval: 100 },
    )
    .toBe(true)
  expect(held.writableLength).toBeGreaterThan(0)
  expect(held.writableLength).toBeLessThan(MIB)
  clock.advance(59_999)
  expect(held.destroyed).toBe(false)
  clock.advance(1)
  await source.cancelled
  expect(held.destroyed).toBe(true)
  expect(clock.timersArmed).toBe(0)
})

test('a client that takes what it is sent gets all of it, however slowly the connection is', async () => {
  const parts = 400
  let given = 0
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        given += 1
        controller.enqueue(new Uint8Array(64 * 1024).fill(given % 251))
        if (given === parts) controller.close()
      },
    },
    { highWaterMark: 0 },
  )
  const clock = new ManualClock()
  const { url } = await serveListener(
    nodeListener(
      noting(() => new Response(body)),
      { clock },
    ),
  )
  const bytes = new Uint8Array(await (await fetch(url)).arrayBuffer())
  expect(bytes.byteLength).toBe(parts * 64 * 1024)
  expect([bytes[0], bytes.at(-1)]).toEqual([1, parts % 251])
  expect(clock.timersArmed).toBe(0)
})

test('fault S02: a client that leaves cancels the body that it reads, and aborts its request', async () => {
  const source = quiet()
  const handler = noting(() => new Response(source.body))
  const { port } = await serveListener(nodeListener(handler))
  const { socket, until } = openRaw(port, GET)
  await until(/hello/u)
  expect(handler.reached[0]?.signal.aborted).toBe(false)
  socket.destroy()
  await source.cancelled
  expect(handler.reached[0]?.signal.aborted).toBe(true)
})

test('fault S02: a body that is ready only after its client has left is cancelled', async () => {
  const source = quiet()
  const ready = Promise.withResolvers<Response>()
  const handler = noting(() => ready.promise)
  const { port } = await serveListener(nodeListener(handler))
  const { socket } = openRaw(port, GET)
  await expect.poll(() => handler.reached.length).toBe(1)
  const [request] = handler.reached
  socket.destroy()
  await expect.poll(() => request?.signal.aborted).toBe(true)
  ready.resolve(new Response(source.body))
  await source.cancelled
})

test('HEAD is answered without a body, and the body is cancelled', async () => {
  const source = quiet()
  const { url } = await serveListener(
    nodeListener(noting(() => new Response(source.body, { headers: { 'x-a': 'b' } }))),
  )
  const response = await fetch(url, { method: 'HEAD' })
  expect([response.status, response.headers.get('x-a'), await response.text()]).toEqual([200, 'b', ''])
  await source.cancelled
})

test('the first part of a body is sent at once, and its headers before that', async () => {
  const { port } = await serveListener(nodeListener(noting(() => new Response(new ReadableStream()))))
  const { until } = openRaw(port, GET)
  expect(await until(/\r\n\r\n/u)).toMatch(/^HTTP\/1\.1 200 /u)
})

test('a handler that fails says nothing of why', async () => {
  const { url } = await serveListener(nodeListener({ fetch: () => Promise.reject(new Error('the secret')) }))
  const response = await fetch(url)
  expect(response.status).toBe(500)
  expect(await response.json()).toEqual({
    error: { code: 'internal_error', message: 'the request could not be answered' },
  })
})

test('an answer that cannot be said over HTTP ends its connection, and nothing else', async () => {
  const { url } = await serveListener(
    nodeListener(noting(({ method }) => (method === 'POST' ? Response.error() : new Response('well')))),
  )
  await expect(fetch(url, { method: 'POST' })).rejects.toThrow('fetch failed')
  expect(await (await fetch(url)).text()).toBe('well')
})

test('a body that fails is broken off and never looks like a whole one', async () => {
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(Buffer.from('half')),
    pull: (controller) => controller.error(new Error('the disk is gone')),
  })
  const { url } = await serveListener(nodeListener(noting(() => new Response(body))))
  const response = await fetch(url)
  await expect(response.text()).rejects.toThrow('terminated')
})

test('fault S10: an upload that breaks off is an error for whoever reads it', async () => {
  const outcome = Promise.withResolvers<string>()
  const handler = noting(async (request) => {
    await request.text().then(outcome.resolve, (error: Error) => outcome.resolve(`failed: ${error.message}`))
    return new Response()
  })
  const { port } = await serveListener(nodeListener(handler))
  const headers = ['Host: x', 'Content-Length: 100']
  const { socket } = openRaw(port, requestText('POST / HTTP/1.1', headers, 'only this'))
  await expect.poll(() => handler.reached.length).toBe(1)
  socket.destroy()
  expect(await outcome.promise).toMatch(/^failed: /u)
})

test('fault S10: nothing of a body is read before somebody asks for it', async () => {
  const ready = Promise.withResolvers<Response>()
  const handler = noting(() => ready.promise)
  const { server, port } = await serveListener(nodeListener(handler))
  const connected = once(server, 'connection') as Promise<[Socket]>
  const headers = ['Host: x', `Content-Length: ${64 * MIB}`]
  const { socket, until } = openRaw(port, requestText('POST / HTTP/1.1', headers))
  const [held] = await connected
  const isTaken = socket.write(new Uint8Array(64 * MIB))
  let before = -1
  await expect
    .poll(
      () => {
        const isStill = handler.reached.length === 1 && held.bytesRead === before
        before = held.bytesRead
        return isStill
      },
      { interval: 100 },
    )
    .toBe(true)
  expect(isTaken).toBe(false)
  expect(held.bytesRead).toBeLessThan(MIB)
  ready.resolve(new Response('enough', { status: 413 }))
  expect(await until(/enough/u)).toMatch(/^HTTP\/1\.1 413 /u)
})

test('fault S10: of a body whose reader stops, little more than what it took is read', async () => {
  const first = Promise.withResolvers<void>()
  const handler = noting(async (request) => {
    await request.body?.getReader().read()
    first.resolve()
    return new Promise<Response>(() => undefined)
  })
  const { server, port } = await serveListener(nodeListener(handler))
  const connected = once(server, 'connection') as Promise<[Socket]>
  const headers = ['Host: x', `Content-Length: ${64 * MIB}`]
  const { socket } = openRaw(port, requestText('POST / HTTP/1.1', headers))
  const [held] = await connected
  socket.write(new Uint8Array(64 * MIB))
  await first.promise
  let before = -1
  await expect
    .poll(
      () => {
        const isStill = held.bytesRead === before
        before = held.bytesRead
        return isStill
      },
      { timeout: 4_000, interval: 100 },
    )
    .toBe(true)
  expect(held.bytesRead).toBeLessThan(MIB)
})

test('fault S10: a client that goes on with a refused body without an end gets its answer and is cut off', async () => {
  const clock = new ManualClock()
  const { port } = await serveListener(
    nodeListener(
      noting(() => new Response('too much', { status: 413 })),
      { clock },
    ),
  )
  const headers = ['Host: x', 'Transfer-Encoding: chunked']
  const { socket, until, closed } = openRaw(port, requestText('POST / HTTP/1.1', headers))
  const goOn = (): void => void socket.write(chunkOf('x'.repeat(1000)), () => setImmediate(goOn))
  goOn()
  expect(await until(/too much/u)).toMatch(/^HTTP\/1\.1 413 /u)
  await expect.poll(() => clock.timersArmed).toBe(1)
  clock.advance(1_000)
  await closed
})

test('a client that ends a refused body in good time may go on with its connection', async () => {
  const clock = new ManualClock()
  const handler = noting(({ method }) => new Response(method, { status: method === 'POST' ? 413 : 200 }))
  const { port } = await serveListener(nodeListener(handler, { clock }))
  const { socket, until } = openRaw(port, requestText('POST / HTTP/1.1', ['Host: x', 'Content-Length: 8']))
  await until(/POST/u)
  socket.write(`12345678${GET}`)
  expect(await until(/GET/u)).toMatch(/HTTP\/1\.1 413 .*HTTP\/1\.1 200 /su)
  expect(clock.timersArmed).toBe(0)
})

test('a body that something in front has read already is said, and not taken for an empty one', async () => {
  const handler = noting(() => new Response('reached'))
  const listener = nodeListener(handler)
  const { url } = await serveListener((incoming, outgoing) => {
    incoming.resume().once('end', () => listener(incoming, outgoing))
  })
  const response = await fetch(url, { method: 'POST', body: 'hello' })
  expect([response.status, await response.text()]).toEqual([
    500,
    expect.stringContaining('mount the service before parsers of bodies'),
  ])
  expect(handler.reached).toEqual([])
})
