// HTTP/1.1 over sockets, without a client between: what fetch does for a request costs as much as a turn of the loop.
// Only what a model's endpoint needs is spoken: a request with a body of known length, one at a time.
import { AsyncResource } from 'node:async_hooks'
import { Buffer } from 'node:buffer'

import { createBodyDecoder, type BodyDecoder } from './body-decoder.ts'
import { ConnectionPool } from './connection-pool.ts'
import type { Connection, ConnectionUser } from './connection.ts'
import type { HttpHead } from './http-head.ts'
import type { Transport, TransportRequest, TransportSink } from './transport.ts'

/** Sends over connections of its own. */
export const socketTransport: Transport = (request, sink) => {
  const call = new SocketCall(placeOf(request.url), request, sink)
  call.start()
  return () => call.takeBack()
}

/** One request, which is its own async context: there is one of these for each that waits. */
class SocketCall extends AsyncResource implements ConnectionUser {
  readonly #place: Place
  /** Null as soon as it is written: its text is not kept while the model thinks. */
  #request: TransportRequest | null
  readonly #sink: TransportSink
  #connection: Connection | null = null
  #decoder: BodyDecoder | null = null
  #isOver = false

  constructor(place: Place, request: TransportRequest, sink: TransportSink) {
    super('loopchart.request')
    this.#place = place
    this.#request = request
    this.#sink = sink
  }

  get context(): AsyncResource {
    return this
  }

  start(): void {
    const connection = this.#place.pool.take()
    if (!connection.isOpen) this.#sink.onQueued()
    this.#connection = connection
    connection.use(this)
  }

  onStale(): void {
    if (this.#isOver) return
    try {
      this.start()
    } catch (error) {
      // Who sent the request is not there any more to have it thrown at.
      this.onFail(error)
    }
  }

  takeBack(): void {
    this.#isOver = true
    this.#decoder?.destroy()
    this.#connection?.drop()
    this.#connection = null
  }

  onReady(connection: Connection): void {
    this.#sink.onConnected()
    const request = this.#request
    this.#request = null
    if (request === null) return
    try {
      connection.write(piecesOf(this.#place, request))
    } catch (error) {
      this.onFail(error)
    }
  }

  onHead({ status, headers }: HttpHead): void {
    if (this.#isOver) return
    const encoding = headers.get('content-encoding')
    if (encoding !== null) this.#decode(encoding)
    this.#sink.onHead(status, headers, status !== 204 && status !== 205)
  }

  onBody(bytes: Buffer): void {
    if (this.#isOver) return
    if (this.#decoder === null) return this.#sink.onChunk(bytes)
    // It is read later, and the bytes are good only now.
    if (!this.#decoder.write(Buffer.from(bytes))) this.#connection?.pause()
  }

  onDone(): void {
    this.#connection = null
    if (this.#isOver) return
    if (this.#decoder === null) this.#end()
    else this.#decoder.end()
  }

  onFail(error: unknown): void {
    if (this.#isOver) return
    this.takeBack()
    this.#sink.onError(error)
  }

  #decode(encoding: string): void {
    this.#decoder = createBodyDecoder(encoding, {
      onChunk: (chunk) => this.#sink.onChunk(chunk),
      onDrain: () => this.#connection?.resume(),
      onEnd: () => this.#end(),
      onError: (error) => this.onFail(error),
    })
  }

  #end(): void {
    if (this.#isOver) return
    this.#isOver = true
    // A compressed body may end before the one that it came in: nobody waits for the rest, which may never come.
    this.#connection?.drop()
    this.#connection = null
    this.#sink.onEnd()
  }
}

interface Place {
  readonly pool: ConnectionPool
  /** The first lines of every request. */
  readonly opening: string
  /** How the last request began, and the headers that it had: mostly those of all. */
  start: string
  startHeaders: TransportRequest['headers'] | null
}

const pools = new Map<string, ConnectionPool>()
// A service may be told where to send to by its users: of the places that it once knew, not all are kept.
const POOLS_MAX = 1000
// An endpoint sends everything to one address, and taking that apart costs more than a small request should.
const places = new WeakMap<URL, Place>()

function placeOf(url: URL): Place {
  const known = places.get(url)
  if (known !== undefined) return known
  const { origin, protocol, hostname, host, port, pathname, search } = url
  const isSecure = protocol === 'https:'
  const numbered = {
    host: hostname.replace(/^\[|\]$/gu, ''),
    port: Number(port || (isSecure ? 443 : 80)),
    isSecure,
  }
  const pool = pools.get(origin) ?? new ConnectionPool(numbered)
  if (!pools.has(origin) && pools.size >= POOLS_MAX) pools.delete(pools.keys().next().value ?? '')
  pools.set(origin, pool)
  const place = {
    pool,
    opening: ` ${pathname}${search} HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive\r\n`,
    start: '',
    startHeaders: null,
  }
  places.set(url, place)
  return place
}

/** A request as it is written. Text of one byte a character is written without a copy of it. */
function piecesOf(place: Place, request: TransportRequest): readonly (string | Uint8Array)[] {
  const { method, headers, idempotencyKey, body } = request
  let head = method + linesOf(place, headers)
  if (idempotencyKey !== null) head += headerLine('idempotency-key', idempotencyKey)
  if (body === null) return [`${head}\r\n`]
  const pieces = request.pieces ?? [{ text: body, byteLength: Buffer.byteLength(body) }]
  let length = 0
  for (let at = 0; at < pieces.length; at += 1) length += pieces[at]?.byteLength ?? 0
  head += `content-length: ${length}\r\n\r\n`
  const only = pieces[0]
  if (pieces.length === 1 && only?.text.length === length) return [head + only.text]
  return [
    head,
    ...pieces.map(({ text, byteLength }) => (byteLength === text.length ? text : Buffer.from(text))),
  ]
}

/** The lines that all requests to a place begin with, behind the method. */
function linesOf(place: Place, headers: TransportRequest['headers']): string {
  if (place.startHeaders === headers) return place.start
  let lines = place.opening
  for (const [name, value] of Object.entries(headers)) lines += headerLine(name, value)
  place.start = lines
  place.startHeaders = headers
  return lines
}

const NO_NAME = /[^!-9;-~]/u
const NO_VALUE = /[^\t\x20-\x7e]/u

/** Endpoints check what they are given; this is where a line break would become a header of its own. */
function headerLine(name: string, value: string): string {
  if (NO_NAME.test(name) || NO_VALUE.test(value)) {
    throw new TypeError(`the header ${JSON.stringify(name)} has a character that it cannot carry`)
  }
  return `${name}: ${value}\r\n`
}
