// What stands behind Node's own fetch is reached without the fetch: a request costs a third, a chunk of a body half.
// The dispatcher is the one that fetch uses, so that a proxy or a mock that was set for fetch is used here as well.
import { AsyncLocalStorage } from 'node:async_hooks'
import { Buffer } from 'node:buffer'

import { ownText } from '../stream/own-text.ts'
import { createBodyDecoder, type BodyDecoder } from './body-decoder.ts'
import {
  headersOf,
  type ResponseHeaders,
  type Transport,
  type TransportRequest,
  type TransportSink,
} from './transport.ts'

/** The part of the first version of undici's dispatcher that is used here. */
export interface Dispatcher {
  dispatch(options: DispatchOptions, handler: DispatchHandler): boolean
}

interface DispatchOptions {
  readonly origin: string
  readonly path: string
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
  /** 0: none. The limits are ours. */
  readonly headersTimeout: number
  readonly bodyTimeout: number
}

interface DispatchHandler {
  onConnect(abort: (reason?: Error) => void): void
  onHeaders(status: number, rawHeaders: readonly RawHeader[], resume: () => void): boolean
  onData(chunk: Buffer): boolean
  onComplete(): void
  onError(error: unknown): void
}

type RawHeader = Buffer | readonly Buffer[]

/** Sends with a dispatcher of undici's. */
export function dispatcherTransport(dispatcher: Dispatcher): Transport {
  return (request, sink) => {
    const call = new DispatchedCall(inOwnContext(sink))
    sink.onQueued()
    try {
      dispatcher.dispatch(optionsOf(request), call)
    } catch (error) {
      // Dispatchers tell their handler; what somebody put around one may not.
      call.onError(error)
    }
    return () => call.takeBack()
  }
}

/**
 * Has a sink told in the async context of who sent the request. A connection outlives requests, and what it tells comes
 * in the context of whoever opened it: what one user of a service keeps there would be another's.
 */
function inOwnContext(sink: TransportSink): TransportSink {
  const enter = AsyncLocalStorage.snapshot()
  return {
    onQueued: () => sink.onQueued(),
    onConnected: () => sink.onConnected(),
    onHead: (status, headers, hasBody) => enter(() => sink.onHead(status, headers, hasBody)),
    onChunk: (chunk) => enter(() => sink.onChunk(chunk)),
    onEnd: () => enter(() => sink.onEnd()),
    onError: (error) => enter(() => sink.onError(error)),
  }
}

function optionsOf(request: TransportRequest): DispatchOptions {
  const { method, url, body } = request
  const { origin, path } = addressOf(url)
  const headers = headersOf(request)
  // A copy is sent: the text of a request shares what it repeats with those before, until somebody makes it one piece.
  const sent = body === null ? null : ownText(body)
  return { origin, path, method, headers, body: sent, headersTimeout: 0, bodyTimeout: 0 }
}

interface Address {
  readonly origin: string
  readonly path: string
}

// An endpoint sends everything to one address, and taking that apart costs more than a small request should.
const addresses = new WeakMap<URL, Address>()

function addressOf(url: URL): Address {
  const known = addresses.get(url)
  if (known !== undefined) return known
  const address = { origin: url.origin, path: `${url.pathname}${url.search}` }
  addresses.set(url, address)
  return address
}

class DispatchedCall implements DispatchHandler {
  readonly #sink: TransportSink
  #abort: ((reason?: Error) => void) | null = null
  #decoder: BodyDecoder | null = null
  #pieces: Buffer[] = []
  /** The body as it came has ended; what it was made of may still be told. */
  #isWhole = false
  #isOver = false

  constructor(sink: TransportSink) {
    this.#sink = sink
  }

  takeBack(): void {
    this.#isOver = true
    this.#decoder?.destroy()
    this.#abort?.(new Error('the request was taken back'))
  }

  onConnect(abort: (reason?: Error) => void): void {
    this.#abort = abort
    // One that still waited for its connection could not be told.
    if (this.#isOver) abort(new Error('the request was taken back'))
    else this.#sink.onConnected()
  }

  onHeaders(status: number, rawHeaders: readonly RawHeader[], resume: () => void): boolean {
    // Such as "100 continue": the head is still to come.
    if (this.#isOver || status < 200) return true
    const headers = new RawHeaders(rawHeaders)
    this.#decoder = createBodyDecoder(headers.get('content-encoding'), {
      onChunk: (chunk) => this.#sink.onChunk(chunk),
      onDrain: resume,
      onEnd: () => this.#end(),
      onError: (error) => this.#fail(error),
    })
    this.#sink.onHead(status, headers, status !== 204 && status !== 205)
    return true
  }

  /**
   * A read of the socket brings many chunks, each told by itself: they are handed on together, as soon as the read is
   * through. False: no more, until there is room.
   */
  onData(chunk: Buffer): boolean {
    if (this.#isOver) return true
    if (this.#decoder !== null) return this.#decoder.write(chunk)
    if (this.#pieces.push(chunk) === 1) queueMicrotask(this.#handOn)
    return true
  }

  onComplete(): void {
    this.#isWhole = true
    if (this.#isOver) return
    if (this.#decoder !== null) return this.#decoder.end()
    this.#handOn()
    this.#end()
  }

  onError(error: unknown): void {
    this.#handOn()
    this.#fail(error)
  }

  readonly #handOn = (): void => {
    const pieces = this.#pieces
    if (pieces.length === 0) return
    this.#pieces = []
    if (!this.#isOver) this.#sink.onChunk(joined(pieces))
  }

  #end(): void {
    if (this.#isOver) return
    this.#isOver = true
    // A compressed body may end before the one that it came in: nobody waits for the rest, which may never come.
    if (!this.#isWhole) this.#abort?.(new Error('the rest of the body is not needed'))
    this.#sink.onEnd()
  }

  #fail(error: unknown): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#decoder?.destroy()
    this.#sink.onError(error)
  }
}

// A sink keeps nothing of what it is given, so that one buffer does for all.
let scratch = Buffer.allocUnsafe(0)
const SCRATCH_BYTES = 128 * 1024

function joined(pieces: readonly Buffer[]): Buffer {
  const [first] = pieces
  if (pieces.length === 1 && first !== undefined) return first
  if (scratch.length === 0) scratch = Buffer.allocUnsafeSlow(SCRATCH_BYTES)
  let length = 0
  for (const piece of pieces) {
    if (length + piece.length > SCRATCH_BYTES) return Buffer.concat(pieces)
    scratch.set(piece, length)
    length += piece.length
  }
  return scratch.subarray(0, length)
}

/** Headers as they come: names and values by turns. Looked through when one is asked for, as few are. */
class RawHeaders implements ResponseHeaders {
  readonly #raw: readonly RawHeader[]

  constructor(raw: readonly RawHeader[]) {
    this.#raw = raw
  }

  /** One that comes more than once is one with commas, as in fetch. */
  get(name: string): string | null {
    let value: string | null = null
    for (let at = 0; at + 1 < this.#raw.length; at += 2) {
      const known = this.#raw[at]
      if (known?.length !== name.length || textOf(known).toLowerCase() !== name) continue
      const text = textOf(this.#raw[at + 1])
      value = value === null ? text : `${value}, ${text}`
    }
    return value
  }
}

function textOf(value: RawHeader | undefined): string {
  if (value === undefined) return ''
  return Buffer.isBuffer(value)
    ? value.toString('latin1')
    : value.map((one) => one.toString('latin1')).join(', ')
}
