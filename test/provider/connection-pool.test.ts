import { AsyncResource } from 'node:async_hooks'
import { Buffer } from 'node:buffer'
import { execFile } from 'node:child_process'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { promisify } from 'node:util'

import { expect, onTestFinished, test } from 'vitest'

import { ConnectionPool } from '../../src/provider/connection-pool.ts'
import type { Connection, ConnectionUser } from '../../src/provider/connection.ts'
import { listen, meanwhile, portOf, rawServer, until } from './fake-provider.ts'

const GET = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n'
const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'

interface Told {
  readonly body: string
  readonly connection: Connection
}

/** What a test does with a response before it is whole. */
type OnBody = (connection: Connection) => void

/** Sends a request over a connection of a pool. */
function ask(pool: ConnectionPool, request = GET, onBody: OnBody = () => undefined): Promise<Told> {
  return new Promise((resolve, reject) => {
    const connection = pool.take()
    let body = ''
    const user: ConnectionUser = {
      context: new AsyncResource('test'),
      onReady: () => connection.write([request]),
      onStale: () => resolve(ask(pool, request, onBody)),
      onHead: () => undefined,
      onBody: (bytes) => {
        body += bytes.toString('latin1')
        onBody(connection)
      },
      onDone: () => resolve({ body, connection }),
      onFail: reject,
    }
    connection.use(user)
  })
}

interface Place {
  readonly port: number
  /** One for each connection that was ever opened, with the requests that came over it. */
  readonly sockets: ReadonlyMap<Socket, number>
}

const answersOk = (response: ServerResponse): void => void response.end('ok')

async function httpServer(
  answer: (response: ServerResponse, request: IncomingMessage) => void = answersOk,
): Promise<Place> {
  const sockets = new Map<Socket, number>()
  const server = createServer({ keepAliveTimeout: 300_000 }, (request, response) => {
    sockets.set(request.socket, (sockets.get(request.socket) ?? 0) + 1)
    request.resume()
    request.on('end', () => answer(response, request))
  })
  await listen(server)
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { port: portOf(server), sockets }
}

function poolTo(port: number, now?: () => number): ConnectionPool {
  return new ConnectionPool({ host: '127.0.0.1', port, isSecure: false }, now)
}

const closed = ({ sockets }: Place): number => [...sockets.keys()].filter(({ destroyed }) => destroyed).length

test('requests one after the other go over one connection', async () => {
  const place = await httpServer()
  const pool = poolTo(place.port)
  for (let time = 0; time < 5; time += 1) expect((await ask(pool)).body).toBe('ok')
  expect([[...place.sockets.values()], pool.idleCount]).toEqual([[5], 1])
})

test('requests at once have a connection each, and those after them take what is there', async () => {
  const waiting: ServerResponse[] = []
  const place = await httpServer((response) => {
    waiting.push(response)
    if (waiting.length === 4) for (const one of waiting.splice(0)) one.end('ok')
  })
  const pool = poolTo(place.port)
  const four = (): Promise<Told[]> => Promise.all([ask(pool), ask(pool), ask(pool), ask(pool)])
  await four()
  expect([[...place.sockets.values()], pool.idleCount]).toEqual([[1, 1, 1, 1], 4])
  await four()
  expect([[...place.sockets.values()], pool.idleCount]).toEqual([[2, 2, 2, 2], 4])
})

test('a connection that the server means to close is not used again, and closed', async () => {
  const place = await httpServer((response) => void response.setHeader('connection', 'close').end('ok'))
  const pool = poolTo(place.port)
  await ask(pool)
  expect(pool.idleCount).toBe(0)
  await ask(pool)
  expect(place.sockets.size).toBe(2)
  await until(() => closed(place) === 2)
})

test('a connection that has waited as long as it may is let go by the sweep', async () => {
  let now = 1000
  const place = await httpServer((response) => void response.setHeader('keep-alive', 'timeout=8').end('ok'))
  const pool = poolTo(place.port, () => now)
  await Promise.all([ask(pool), ask(pool)])
  now += 3000
  await ask(pool)
  now += 3999
  pool.sweep()
  expect(pool.idleCount).toBe(2)
  now += 1
  pool.sweep()
  expect(pool.idleCount).toBe(1)
  await until(() => closed(place) === 1)
  now += 3000
  pool.sweep()
  expect(pool.idleCount).toBe(0)
  await until(() => closed(place) === 2)
})

test('a connection that has waited as long as it may is not used, swept or not', async () => {
  let now = 0
  const place = await httpServer((response) => void response.setHeader('keep-alive', 'timeout=8').end('ok'))
  const pool = poolTo(place.port, () => now)
  await ask(pool)
  now = 7000
  await ask(pool)
  expect([place.sockets.size, pool.idleCount]).toEqual([2, 1])
  await until(() => closed(place) === 1)
})

/** A server that answers each request, and lets a test do something with the connection behind its back. */
async function openServer(answer: string): Promise<{ readonly port: number; readonly sockets: Socket[] }> {
  const sockets: Socket[] = []
  const port = await rawServer((socket) => {
    sockets.push(socket)
    socket.on('data', () => socket.write(answer))
  })
  return { port, sockets }
}

const SPOILED: readonly (readonly [string, (socket: Socket) => unknown])[] = [
  ['sends bytes that nobody asked for', (socket) => socket.write(OK)],
  ['ends', (socket) => socket.end()],
  ['resets', (socket) => socket.resetAndDestroy()],
]

test.for(SPOILED)('a connection that the server %s while it waits is dropped', async ([, spoil]) => {
  const { port, sockets } = await openServer(OK)
  const pool = poolTo(port)
  const { connection } = await ask(pool)
  const [first] = sockets
  if (first !== undefined) spoil(first)
  await until(() => !connection.isOpen && first?.destroyed === true)
  expect((await ask(pool)).body).toBe('ok')
  expect([sockets.length, pool.idleCount]).toEqual([2, 1])
})

/** A server that closes behind its first responses without having said so; how often it was asked over each connection. */
async function hastyServer(
  closes: (answered: number) => boolean,
): Promise<{ port: number; asked: number[] }> {
  const asked: number[] = []
  let answered = 0
  const port = await rawServer((socket) => {
    const at = asked.push(0) - 1
    socket.on('data', () => {
      asked[at] = (asked[at] ?? 0) + 1
      answered += 1
      if (closes(answered)) socket.end(OK)
      else socket.write(OK)
    })
  })
  return { port, asked }
}

test('a server that closes behind its responses without a word loses no request', async () => {
  const { port, asked } = await hastyServer(() => true)
  const pool = poolTo(port)
  for (let time = 0; time < 20; time += 1) expect((await ask(pool)).body).toBe('ok')
  expect(asked).toEqual(Array.from({ length: 20 }, () => 1))
})

/** Sends a request, and tells whether it was written in the moment in which it was given its connection. */
async function isWrittenAtOnce(pool: ConnectionPool): Promise<boolean> {
  const connection = pool.take()
  let isReady = false
  return new Promise((resolve, reject) => {
    let wasReady = false
    connection.use({
      context: new AsyncResource('test'),
      onReady: () => {
        isReady = true
        connection.write([GET])
      },
      onStale: () => reject(new Error('it was closed')),
      onHead: () => undefined,
      onBody: () => undefined,
      onDone: () => resolve(wasReady),
      onFail: reject,
    })
    wasReady = isReady
  })
}

test('a server is waited for until it has left one connection open, and again when it has closed one', async () => {
  const { port } = await hastyServer((answered) => answered === 5)
  const pool = poolTo(port)
  await ask(pool)
  expect(await isWrittenAtOnce(pool)).toBe(false)
  expect(await isWrittenAtOnce(pool)).toBe(true)
  expect(await isWrittenAtOnce(pool)).toBe(true)
  const { connection } = await ask(pool)
  await until(() => !connection.isOpen)
  await ask(pool)
  expect(await isWrittenAtOnce(pool)).toBe(false)
})

test('a request that is taken back while its connection is looked at is not written', async () => {
  const { port, asked } = await hastyServer(() => false)
  const pool = poolTo(port)
  await ask(pool)
  const told: string[] = []
  const connection = pool.take()
  connection.use({
    context: new AsyncResource('test'),
    onReady: () => told.push('ready'),
    onStale: () => told.push('stale'),
    onHead: () => told.push('head'),
    onBody: () => told.push('body'),
    onDone: () => told.push('done'),
    onFail: () => told.push('failed'),
  })
  connection.drop()
  expect((await ask(pool)).body).toBe('ok')
  await meanwhile()
  expect([told, asked]).toEqual([[], [1, 1]])
})

test('a response with more behind it takes its connection along', async () => {
  const { port, sockets } = await openServer(`${OK}HTTP/1.1 200 OK`)
  const pool = poolTo(port)
  expect((await ask(pool)).body).toBe('ok')
  expect(pool.idleCount).toBe(0)
  await until(() => sockets[0]?.destroyed === true)
})

test('an answer that came before the request was all sent is told, and its connection not used again', async () => {
  const sockets: Socket[] = []
  const port = await rawServer((socket) => {
    sockets.push(socket)
    socket.once('data', () => {
      socket.pause()
      socket.write(OK)
    })
  })
  const pool = poolTo(port)
  const large = `${GET}${'x'.repeat(64 * 1024 * 1024)}`
  const { body, connection } = await ask(pool, large)
  expect([body, connection.isOpen, pool.idleCount]).toEqual(['ok', false, 0])
})

test('a connection that is dropped by who uses it is not used again, and nobody is told', async () => {
  const place = await httpServer((response) => void response.writeHead(200).write('half'))
  const pool = poolTo(place.port)
  const told: string[] = []
  void ask(pool, GET, (connection) => {
    told.push('half')
    connection.drop()
  }).then(
    () => told.push('done'),
    () => told.push('failed'),
  )
  await until(() => closed(place) === 1)
  await meanwhile()
  expect([told, pool.idleCount]).toEqual([['half'], 0])
})

test('a connection that was paused reads on when it is told to', async () => {
  const large = 'x'.repeat(4 * 1024 * 1024)
  const place = await httpServer((response) => void response.end(large))
  const pool = poolTo(place.port)
  let paused: Connection | null = null
  let pauses = 0
  const asked = ask(pool, GET, (connection) => {
    expect(paused).toBeNull()
    paused = connection
    pauses += 1
    connection.pause()
    setImmediate(() => {
      paused = null
      connection.resume()
    })
  })
  expect((await asked).body).toBe(large)
  expect(pauses).toBeGreaterThan(1)
})

test('a connection that was paused when its response ended is used again, and sees its end', async () => {
  const { port, sockets } = await openServer(OK)
  const pool = poolTo(port)
  const { connection } = await ask(pool, GET, (used) => used.pause())
  expect((await ask(pool, GET, (used) => used.pause())).body).toBe('ok')
  expect(sockets.length).toBe(1)
  sockets[0]?.end()
  await until(() => !connection.isOpen)
})

const SOURCE = new URL('../../src/provider/socket-transport.ts', import.meta.url).href

/** Sends requests from another process, which has nothing else to do, and gives back what it printed before it ended. */
async function fromChild(port: number, times: number): Promise<string> {
  const script = `
    const { socketTransport } = await import(${JSON.stringify(SOURCE)})
    const request = { method: 'GET', url: new URL('http://127.0.0.1:${port}/'), headers: {}, body: null }
    const nothing = () => undefined
    for (let time = 0; time < ${times}; time += 1) {
      const end = await new Promise((resolve) => {
        const onEnd = () => resolve('well')
        const sink = { onQueued: nothing, onConnected: nothing, onHead: nothing, onChunk: nothing }
        socketTransport(request, { ...sink, onEnd, onError: resolve })
      })
      console.log(end)
    }
  `
  const args = ['--input-type=module', '--eval', script]
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 50_000 })
  return stdout
}

test('a process that has sent its request ends by itself, although the connection waits for another', async () => {
  const place = await httpServer()
  expect(await fromChild(place.port, 1)).toBe('well\n')
  expect([...place.sockets.values()]).toEqual([1])
})

test('a process that has sent a request over a connection that had waited stays until it is answered', async () => {
  const place = await httpServer((response) => void meanwhile().then(() => answersOk(response)))
  expect(await fromChild(place.port, 3)).toBe('well\nwell\nwell\n')
  expect([...place.sockets.values()]).toEqual([3])
})

test('a body is written as it is, in one piece or in several', async () => {
  const seen: Buffer[] = []
  const port = await rawServer((socket) => {
    socket.on('data', (bytes: Buffer) => {
      seen.push(bytes)
      if (Buffer.concat(seen).toString('utf8').endsWith('é.')) socket.write(OK)
    })
  })
  const pool = poolTo(port)
  await new Promise<void>((resolve, reject) => {
    const connection = pool.take()
    connection.use({
      context: new AsyncResource('test'),
      onReady: () => connection.write(['\u00ff', Buffer.from('grüße'), 'x', Buffer.from('é.')]),
      onStale: () => reject(new Error('the first connection of a pool was used before')),
      onHead: () => undefined,
      onBody: () => undefined,
      onDone: resolve,
      onFail: reject,
    })
  })
  expect(Buffer.concat(seen)).toEqual(Buffer.concat([Buffer.of(0xff), Buffer.from('grüßexé.')]))
})
