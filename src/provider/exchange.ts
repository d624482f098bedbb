import { Buffer } from 'node:buffer'

import type { Clock } from '../clock.ts'
import { ownText } from '../stream/own-text.ts'
import {
  headFault,
  statusFault,
  stopFault,
  transportFault,
  type FaultPlace,
  type ProviderFault,
} from './fault.ts'
import { createProgressMeter, type ProgressMeter } from './progress-meter.ts'
import { retryAtOf } from './retry-after.ts'
import type { Caps, Timeouts } from './timeouts.ts'
import type { ResponseHeaders, Transport, TransportRequest, TransportSink } from './transport.ts'
import { Watchdog, type StopCause, type StopListener } from './watchdog.ts'

/** What a provider says before the body. */
export interface ExchangeHead {
  readonly status: number
  readonly requestId: string | null
  readonly contentType: string | null
}

export interface ExchangeRequest extends TransportRequest {
  readonly place: FaultPlace
  /** What the response is where its content type does not say. */
  readonly expects: 'stream' | 'body'
  readonly signal: AbortSignal
  readonly onHead: (head: ExchangeHead) => void
  /**
   * Takes the next bytes of a successful body; false: read no further and drop the connection. They are good during the
   * call only: what is kept of them is copied.
   */
  readonly onChunk: (chunk: Uint8Array) => boolean
}

/** What exchanges of one endpoint have in common. */
export interface Wire {
  readonly transport: Transport
  readonly clock: Clock
  readonly timeouts: Timeouts
  readonly caps: Caps
}

/**
 * One request and its response. Resolves with null when the body ended or was not wanted any further, otherwise with
 * the fault; it rejects only when a callback throws. When it has settled, nothing of it is left.
 */
export function exchange(wire: Wire, request: ExchangeRequest): Promise<ProviderFault | null> {
  if (request.signal.aborted) return Promise.resolve(stopFault(request.place, 'aborted', null))
  return new Promise((resolve) => new Exchange(wire, request, resolve).start(request))
}

// The status is known by then: what the provider adds to it is not worth a long wait.
const ERROR_BODY_MS = 5000

class Exchange implements TransportSink, StopListener {
  readonly #wire: Wire
  // Of the request, what is needed while it waits: its text and its key are not.
  readonly #place: FaultPlace
  readonly #expects: 'stream' | 'body'
  readonly #onHead: (head: ExchangeHead) => void
  readonly #onChunk: (chunk: Uint8Array) => boolean
  readonly #resolve: (fault: ProviderFault | null | Promise<never>) => void
  readonly #watchdog: Watchdog
  #takeBack: (() => void) | null = null
  #isSettled = false
  #meter: ProgressMeter | null = null
  #error: ErrorBody | null = null

  constructor(
    wire: Wire,
    request: ExchangeRequest,
    resolve: (fault: ProviderFault | null | Promise<never>) => void,
  ) {
    this.#wire = wire
    this.#place = request.place
    this.#expects = request.expects
    this.#onHead = request.onHead
    this.#onChunk = request.onChunk
    this.#resolve = resolve
    this.#watchdog = new Watchdog(wire.clock, request.signal, this)
  }

  start(request: TransportRequest): void {
    const { transport, timeouts } = this.#wire
    const nowMs = this.#watchdog.now()
    // The sooner one first: there is one timer for all.
    this.#watchdog.arm('headers', timeouts.headersMs, nowMs)
    this.#watchdog.arm('total', timeouts.totalMs, nowMs)
    try {
      const takeBack = transport(request, this)
      // It may be over before it has begun.
      if (this.#isSettled) takeBack()
      else this.#takeBack = takeBack
    } catch (error) {
      // Such as settings for TLS that are none: they are looked at when they are first used.
      this.onError(error)
    }
  }

  onQueued(): void {
    if (!this.#isSettled) this.#watchdog.arm('connect', this.#wire.timeouts.connectMs)
  }

  onConnected(): void {
    this.#watchdog.disarm('connect')
  }

  onHead(status: number, headers: ResponseHeaders, hasBody: boolean): void {
    if (this.#isSettled) return
    const place = this.#place
    this.#watchdog.disarm('connect')
    this.#watchdog.disarm('headers')
    if (status === 0) return this.#fail(headFault(place, 300, 'with a redirect'))
    const contentType = headers.get('content-type')
    if (!this.#tellHead({ status, requestId: requestIdOf(headers), contentType: typeOf(contentType) })) return
    if (status >= 300 && status < 400)
      return this.#fail(headFault(place, status, `${status} and points to ${targetOf(headers)}`))
    if (status < 200 || status > 299) {
      this.#error = new ErrorBody(status, headers, this.#wire.caps.errorBytesMax)
      return this.#watchdog.arm('idle', ERROR_BODY_MS)
    }
    const objection = hasBody ? objectionTo(headers, contentType) : 'without a body'
    if (objection !== null) return this.#fail(headFault(place, status, `${status} ${objection}`))
    const isBody = contentType === null ? this.#expects === 'body' : JSON_TYPE.test(contentType)
    this.#meter = createProgressMeter(isBody ? 'body' : 'stream')
    this.#move(true)
  }

  onChunk(chunk: Uint8Array): void {
    if (this.#isSettled) return
    if (this.#error !== null) {
      if (!this.#error.add(chunk)) this.#fail(this.#statusFault(this.#error))
      return
    }
    const hasProgress = this.#meter?.feed(chunk) === true
    let isWanted = false
    try {
      isWanted = this.#onChunk(chunk)
    } catch (bug) {
      this.#throw(bug)
    }
    if (this.#isSettled) return
    if (isWanted) this.#move(hasProgress)
    else this.#settle(null, true)
  }

  onEnd(): void {
    this.#settle(this.#error === null ? null : this.#statusFault(this.#error, true), false)
  }

  onError(error: unknown): void {
    // What an error's body still had to say is not worth another error.
    this.#fail(this.#error === null ? transportFault(this.#place, error) : this.#statusFault(this.#error))
  }

  onStop(cause: StopCause): void {
    const { connectMs, headersMs, idleMs, progressMs, totalMs } = this.#wire.timeouts
    const limits = {
      aborted: null,
      connect: connectMs,
      headers: headersMs,
      idle: idleMs,
      progress: progressMs,
      total: totalMs,
    }
    const isError = this.#error !== null && cause !== 'aborted'
    this.#fail(
      isError && this.#error !== null
        ? this.#statusFault(this.#error)
        : stopFault(this.#place, cause, limits[cause]),
    )
  }

  #statusFault({ status, headers, bytes }: ErrorBody, isWhole = false): ProviderFault {
    const place = this.#place
    const { caps, clock } = this.#wire
    const { redact } = place
    // Secrets are looked for in all that came: one that a cut goes through could not be found any more.
    const text = redact(new TextDecoder().decode(bytes))
    const body = isWhole
      ? text
      : redact.withoutBegun(text).slice(0, Math.max(0, caps.errorBytesMax - redact.lengthMax))
    return statusFault(place, { status, body, retryAt: retryAtOf(headers, clock.now()) })
  }

  /** Something came: the limits between two pieces begin anew. */
  #move(hasProgress: boolean): void {
    const { idleMs, progressMs } = this.#wire.timeouts
    const nowMs = this.#watchdog.now()
    if (hasProgress) this.#watchdog.arm('progress', progressMs, nowMs)
    this.#watchdog.arm('idle', idleMs, nowMs)
  }

  /** Whether it goes on. */
  #tellHead(head: ExchangeHead): boolean {
    try {
      this.#onHead(head)
    } catch (bug) {
      this.#throw(bug)
    }
    return !this.#isSettled
  }

  /** A callback that throws is a bug of whoever gave it, and ends the exchange. */
  #throw(bug: unknown): void {
    // After its end there is nobody who could be told.
    if (this.#isSettled) return
    this.#end(true)
    this.#resolve(Promise.reject(bug))
  }

  #fail(fault: ProviderFault): void {
    this.#settle(fault, true)
  }

  #settle(fault: ProviderFault | null, drop: boolean): void {
    if (this.#isSettled) return
    this.#end(drop)
    this.#resolve(fault)
  }

  #end(drop: boolean): void {
    this.#isSettled = true
    this.#watchdog.end()
    if (drop) this.#takeBack?.()
    this.#takeBack = null
    this.#meter = null
  }
}

/** The start of an error's body, whatever becomes of the rest. */
class ErrorBody {
  readonly status: number
  readonly headers: ResponseHeaders
  readonly #bytesMax: number
  readonly #chunks: Uint8Array[] = []
  #length = 0

  constructor(status: number, headers: ResponseHeaders, bytesMax: number) {
    this.status = status
    this.headers = headers
    this.#bytesMax = bytesMax
  }

  get bytes(): Buffer {
    return Buffer.concat(this.#chunks)
  }

  /** False when it has enough. */
  add(chunk: Uint8Array): boolean {
    this.#chunks.push(Buffer.from(chunk))
    this.#length += chunk.length
    return this.#length < this.#bytesMax
  }
}

// As the loop tells them apart.
const JSON_TYPE = /\bjson\b/iu
const STREAM_TYPE = /^\s*text\/event-stream\b/iu
// These are undone. One is a proxy's doing; a chain of them is an attack, for each multiplies the next.
const READ_ENCODING = /^(?:identity|gzip|x-gzip|deflate|br)?$/iu

/** Why a successful status is not followed by a response; null: it may be. */
function objectionTo(headers: ResponseHeaders, type: string | null): string | null {
  const encoding = headers.get('content-encoding')
  if (encoding !== null && !READ_ENCODING.test(encoding.trim())) {
    return `with the encoding ${encoding}, which is not read`
  }
  const isReadable = type === null || type === '' || STREAM_TYPE.test(type) || JSON_TYPE.test(type)
  return isReadable ? null : `with ${type}, not with an event stream or JSON`
}

function requestIdOf(headers: ResponseHeaders): string | null {
  return (
    textOf(headers.get('x-request-id')) ??
    textOf(headers.get('request-id')) ??
    textOf(headers.get('x-vercel-id')) ??
    textOf(headers.get('cf-ray'))
  )
}

let typeBefore: string | null = null

/** The content type for the log. One that is as it was before is the same text, and not another for each response. */
function typeOf(contentType: string | null): string | null {
  if (contentType !== typeBefore || contentType === '') typeBefore = textOf(contentType)
  return typeBefore
}

const HEADER_TEXT_MAX = 200

// It is kept in the log, and the head that it stands in is not.
function textOf(value: string | null): string | null {
  return value === null || value === '' ? null : ownText(value.slice(0, HEADER_TEXT_MAX))
}

/** Where a redirect leads, without what may be secret in it. */
function targetOf(headers: ResponseHeaders): string {
  const location = headers.get('location')
  if (location === null) return 'nowhere'
  const url = URL.parse(location)
  return url === null ? 'another path' : url.origin
}
