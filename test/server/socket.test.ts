import type { Socket } from 'node:net'

import { expect, test } from 'vitest'

import type { RunStore } from '../../src/journal/run-store.ts'
import { nodeListener } from '../../src/server/node-listener.ts'
import { ManualClock } from '../manual-clock.ts'
import { serviceKit, talkingAgent, TOKEN } from './service-kit.ts'
import { chunkOf, openRaw, requestText, serveListener, type RawClient } from './socket-kit.ts'

const MIB = 1024 * 1024
const JSON_TYPE = 'Content-Type: application/json'
const BEARER = `Authorization: Bearer ${TOKEN}`

interface Site {
  readonly port: number
  readonly host: string
  readonly clock: ManualClock
  readonly store: RunStore
  /** The connections of clients, as the server sees them. */
  readonly sockets: readonly Socket[]
  readonly send: (first: string, headers: readonly string[], body?: string) => RawClient
}

/** The service behind node:http, with time that a test moves. */
async function site(): Promise<Site> {
  const clock = new ManualClock()
  const { service, store } = serviceKit(talkingAgent(), { clock, hosts: [] })
  const { server, port } = await serveListener(nodeListener(service, { clock }))
  const host = `127.0.0.1:${port}`
  service.allowHosts([host])
  const sockets: Socket[] = []
  server.on('connection', (socket: Socket) => void sockets.push(socket))
  const send: Site['send'] = (first, headers, body) =>
    openRaw(port, requestText(`${first} HTTP/1.1`, headers, body))
  return { port, host, clock, store, sockets, send }
}

/** A body of so many bytes that starts a run. */
function bodyOf(bytes: number): string {
  const rest = JSON.stringify({ input: '' }).length
  return JSON.stringify({ input: 'x'.repeat(bytes - rest) })
}

function statusOf(answer: string): number {
  return Number(/^HTTP\/1\.1 (\d{3}) /u.exec(answer)?.[1] ?? 0)
}

const ROUTES = [
  '/healthz',
  '/inspect',
  '/inspect/app.js',
  '/runs',
  '/runs/x',
  '/runs/x/frames',
  '/metrics',
  '/nowhere',
]

test.for(ROUTES)(
  'fault S06: %s is for one Host that is ours, in a header and not in the target',
  async (path) => {
    const { host, send } = await site()
    const get = `GET ${path}`
    const close = 'Connection: close'
    const answers = [
      send(get, [`Host: ${host}`, 'Host: attacker.example', BEARER, close]),
      send(get, ['Host: attacker.example', `Host: ${host}`, BEARER, close]),
      send(get, [`Host: ${host}`, `Host: ${host}`, BEARER, close]),
      send(`GET http://${host}${path}`, [`Host: ${host}`, BEARER, close]),
      send(`GET http://attacker.example${path}`, [`Host: ${host}`, BEARER, close]),
      send(get, ['Host: attacker.example', BEARER, close]),
      send(get, ['Host: 127.0.0.1', BEARER, close]),
      send(get, [`Host: ${host.replace(':', '.:')}`, BEARER, close]),
      send(get, ['Host: attacker.example', BEARER, close, 'Upgrade: websocket', 'Connection: upgrade']),
    ]
    const statuses = (await Promise.all(answers.map(({ closed }) => closed))).map(statusOf)
    expect(statuses).toEqual([400, 400, 400, 400, 400, 421, 421, 421, 421])
  },
)

test('fault S10: a body of 1 MiB is read, and one byte more is refused, told beforehand or not', async () => {
  const { host, send, store } = await site()
  const headers = [`Host: ${host}`, BEARER, JSON_TYPE]
  const [most, more] = [bodyOf(MIB), bodyOf(MIB + 1)]
  const answers = [
    send('POST /runs', [...headers, `Content-Length: ${MIB}`], most),
    send('POST /runs', [...headers, `Content-Length: ${MIB + 1}`], more),
    send('POST /runs', [...headers, 'Transfer-Encoding: chunked'], `${chunkOf(more)}0\r\n\r\n`),
  ]
  const statuses = (await Promise.all(answers.map(({ until }) => until(/\r\n\r\n.*\}/su)))).map(statusOf)
  expect(statuses).toEqual([201, 413, 413])
  expect(store.list()).toHaveLength(1)
})

test('fault S10: a chunked body without an end is refused after 1 MiB, and its sender is cut off', async () => {
  const { host, send, sockets, clock, store } = await site()
  const client = send('POST /runs', [`Host: ${host}`, BEARER, JSON_TYPE, 'Transfer-Encoding: chunked'])
  const piece = chunkOf('x'.repeat(64 * 1024))
  let isOpen = true
  void client.closed.then(() => (isOpen = false))
  const goOn = (): void => {
    if (isOpen) client.socket.write(piece, () => setImmediate(goOn))
  }
  goOn()
  expect(statusOf(await client.until(/body_too_large/u))).toBe(413)
  // What it goes on with is dropped for a moment, so that it can read its answer.
  const [held] = sockets
  const answered = held?.bytesRead ?? 0
  await expect.poll(() => held?.bytesRead).toBeGreaterThan(answered)
  clock.advance(1_000)
  await client.closed
  expect(store.list()).toEqual([])
})

test('fault S10: a body that comes too slowly is refused after 10 seconds, whatever trickles in', async () => {
  const { host, send, clock, store } = await site()
  const client = send('POST /runs', [`Host: ${host}`, BEARER, JSON_TYPE, 'Transfer-Encoding: chunked'])
  client.socket.write(chunkOf('{"input":'))
  await expect.poll(() => clock.timersArmed).toBeGreaterThan(0)
  clock.advance(9_999)
  client.socket.write(chunkOf('"'))
  await new Promise((resolve) => setImmediate(resolve))
  expect(client.received()).toBe('')
  clock.advance(1)
  expect(statusOf(await client.until(/within 10000 ms/u))).toBe(400)
  expect(store.list()).toEqual([])
})

test('fault S10: an upload that breaks off starts nothing, and nobody waits for it any longer', async () => {
  const { host, send, clock, store } = await site()
  const body = JSON.stringify({ input: 'go' })
  const headers = [`Host: ${host}`, BEARER, JSON_TYPE, `Content-Length: ${body.length}`]
  const client = send('POST /runs', headers, body.slice(0, -1))
  await expect.poll(() => clock.timersArmed).toBe(1)
  client.socket.destroy()
  await expect.poll(() => clock.timersArmed).toBe(0)
  expect(store.list()).toEqual([])
})

test('fault S08: whoever sends a body without a token is refused before it is read', async () => {
  const { host, send, sockets } = await site()
  const headers = [`Host: ${host}`, JSON_TYPE, `Content-Length: ${512 * MIB}`]
  const client = send('POST /runs', headers, 'x')
  expect(statusOf(await client.until(/token_refused/u))).toBe(401)
  expect(sockets[0]?.bytesRead).toBeLessThan(1000)
})

test('HEAD of a stream leaves no reader behind', async () => {
  const { host, send } = await site()
  const start = JSON.stringify({ input: 'go' })
  const started = send(
    'POST /runs',
    [`Host: ${host}`, BEARER, JSON_TYPE, `Content-Length: ${start.length}`],
    start,
  )
  const [, id = ''] = /"run_id":"([^"]+)"/u.exec(await started.until(/run_id.*\}/u)) ?? []
  const head = send(`HEAD /runs/${id}/frames`, [`Host: ${host}`, BEARER, 'Accept: text/event-stream'])
  await head.until(/\r\n\r\n/u)
  const metrics = send('GET /metrics', [`Host: ${host}`, BEARER])
  expect(await metrics.until(/\n0\r\n\r\n$/u)).toMatch(/^loopchart_(?:streams|readers)\S* 0$/mu)
})
