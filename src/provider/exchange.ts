import { Buffer } from 'node:buffer'

import type { Clock } from '../clock.ts'
import { withConnectProbe } from './connect-probe.ts'
import {
  headFault,
  statusFault,
  stopFault,
  transportFault,
  type FaultPlace,
  type ProviderFault,
} from './fault.ts'
import { createProgressMeter } from './progress-meter.ts'
import { retryAtOf } from './retry-after.ts'
import type { Caps, Timeouts } from './timeouts.ts'
import { Watchdog, type StopCause } from './watchdog.ts'

/** What a provider says before the body. */
export interface ExchangeHead {
  readonly status: number
  readonly requestId: string | null
  readonly contentType: string | null
}

export interface ExchangeRequest {
  readonly method: 'GET' | 'POST'
  readonly url: URL
  readonly place: FaultPlace
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
  /** What the response is where its content type does not say. */
  readonly expects: 'stream' | 'body'
  readonly signal: AbortSignal
  readonly onHead: (head: ExchangeHead) => void
  /** Takes the next bytes of a successful body; false: read no further and drop the connection. */
  readonly onChunk: (chunk: Uint8Array) => boolean
}

/** What exchanges of one endpoint have in common. */
export interface Wire {
  readonly fetch: typeof globalThis.fetch
  readonly clock: Clock
  readonly timeouts: Timeouts
  readonly caps: Caps
}

/**
 * One request and its response. Resolves with null when the body ended or was not wanted any further, otherwise with
 * the fault; it rejects only when a callback throws. When it has settled, nothing of it is left.
 */
export async function exchange(wire: Wire, request: ExchangeRequest): Promise<ProviderFault | null> {
  const watchdog = new Watchdog(wire.clock, request.signal)
  const state: ExchangeState = { wire, request, watchdog, isReadToEnd: false }
  try {
    const opened = await open(state)
    return opened.ok ? await receive(state, opened.value) : opened.fault
  } finally {
    watchdog.end(!state.isReadToEnd)
  }
}

interface ExchangeState {
  readonly wire: Wire
  readonly request: ExchangeRequest
  readonly watchdog: Watchdog
  isReadToEnd: boolean
}

type Attempt<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly fault: ProviderFault }

/** Sends the request and waits for the head. */
async function open(state: ExchangeState): Promise<Attempt<Response>> {
  const { wire, request, watchdog } = state
  const { connectMs, headersMs, totalMs } = wire.timeouts
  const { signal } = watchdog
  if (watchdog.cause !== null) return { ok: false, fault: stopped(state, watchdog.cause) }
  watchdog.arm('total', totalMs)
  watchdog.arm('headers', headersMs)
  const { method, url, headers, body } = request
  const watcher = {
    onQueued: () => watchdog.arm('connect', connectMs),
    onConnected: () => watchdog.disarm('connect'),
  }
  const send = async (): Promise<Response> => {
    const response = await wire.fetch(url, {
      method,
      headers: { ...headers },
      body,
      signal,
      redirect: 'manual',
    })
    // Nobody waits for this one any more.
    if (watchdog.cause !== null) response.body?.cancel().catch(() => undefined)
    return response
  }
  return withConnectProbe(watcher, () => attempt(state, send))
}

/** Fetch and reading fail by throwing; what they throw is a fault, and what our own limits cut off is ours. */
async function attempt<Value>(state: ExchangeState, work: () => Promise<Value>): Promise<Attempt<Value>> {
  try {
    return { ok: true, value: await state.watchdog.guard(work()) }
  } catch (error) {
    const { cause } = state.watchdog
    const fault = cause === null ? transportFault(state.request.place, error) : stopped(state, cause)
    return { ok: false, fault }
  }
}

function stopped({ wire, request }: ExchangeState, cause: StopCause): ProviderFault {
  const { connectMs, headersMs, idleMs, progressMs, totalMs } = wire.timeouts
  const limits = {
    aborted: null,
    connect: connectMs,
    headers: headersMs,
    idle: idleMs,
    progress: progressMs,
    total: totalMs,
  }
  return stopFault(request.place, cause, limits[cause])
}

async function receive(state: ExchangeState, response: Response): Promise<ProviderFault | null> {
  const { wire, request, watchdog } = state
  const { place } = request
  watchdog.disarm('connect')
  watchdog.disarm('headers')
  const { status, headers } = response
  // A browser's fetch hides what it does not follow, and the status with it.
  if (response.type === 'opaqueredirect') return headFault(place, 300, 'with a redirect')
  request.onHead({
    status,
    requestId: requestIdOf(headers),
    contentType: textOf(headers.get('content-type')),
  })
  if (status >= 300 && status < 400)
    return headFault(place, status, `${status} and points to ${targetOf(headers)}`)
  const reader = response.body?.getReader() ?? null
  try {
    if (!response.ok) {
      const body = reader === null ? '' : await errorText(state, reader)
      if (watchdog.cause === 'aborted') return stopped(state, 'aborted')
      return statusFault(place, { status, body, retryAt: retryAtOf(headers, wire.clock.now()) })
    }
    const objection = objectionTo(response)
    if (objection !== null) return headFault(place, status, `${status} ${objection}`)
    return reader === null
      ? headFault(place, status, `${status} without a body`)
      : await readBody(state, reader, headers.get('content-type'))
  } finally {
    if (!state.isReadToEnd) reader?.cancel().catch(() => undefined)
  }
}

type BodyReader = ReadableStreamDefaultReader<Uint8Array>

async function readBody(
  state: ExchangeState,
  reader: BodyReader,
  contentType: string | null,
): Promise<ProviderFault | null> {
  const { wire, request, watchdog } = state
  const { idleMs, progressMs } = wire.timeouts
  const shape = contentType === null ? request.expects : isJson(contentType) ? 'body' : 'stream'
  const meter = createProgressMeter(shape)
  watchdog.arm('progress', progressMs)
  for (;;) {
    watchdog.arm('idle', idleMs)
    const next = await attempt(state, () => reader.read())
    if (!next.ok) return next.fault
    const { done, value } = next.value
    if (done) {
      state.isReadToEnd = true
      return null
    }
    if (meter.feed(value)) watchdog.arm('progress', progressMs)
    if (!request.onChunk(value)) return null
  }
}

// The status is known by then: what the provider adds to it is not worth a long wait.
const ERROR_BODY_MS = 5000

/** The start of an error's body, whatever becomes of the rest. */
async function errorText(state: ExchangeState, reader: BodyReader): Promise<string> {
  const { wire, request, watchdog } = state
  const { errorBytesMax } = wire.caps
  const chunks: Uint8Array[] = []
  let length = 0
  watchdog.arm('idle', ERROR_BODY_MS)
  while (length < errorBytesMax) {
    const next = await attempt(state, () => reader.read())
    if (!next.ok || next.value.done) {
      state.isReadToEnd = next.ok
      return new TextDecoder().decode(Buffer.concat(chunks))
    }
    chunks.push(next.value.value)
    length += next.value.value.length
  }
  // A secret that the cut goes through could not be found any more.
  const end = Math.max(0, errorBytesMax - request.place.redact.lengthMax)
  return new TextDecoder().decode(Buffer.concat(chunks).subarray(0, end))
}

/** Why a successful status is not followed by a response; null: it may be. */
function objectionTo({ headers }: Response): string | null {
  const encoding = headers.get('content-encoding') ?? ''
  // Node's fetch undoes these. One is a proxy's doing; a chain of them is an attack, for each multiplies the next.
  if (!/^(?:identity|gzip|x-gzip|deflate|br)?$/iu.test(encoding.trim())) {
    return `with the encoding ${encoding}, which is not read`
  }
  const type = headers.get('content-type')
  const isReadable = type === null || type === '' || isJson(type) || /^\s*text\/event-stream\b/iu.test(type)
  return isReadable ? null : `with ${type}, not with an event stream or JSON`
}

// As the loop tells them apart.
function isJson(contentType: string | null): boolean {
  return /\bjson\b/iu.test(contentType ?? '')
}

const REQUEST_ID_HEADERS = ['x-request-id', 'request-id', 'x-vercel-id', 'cf-ray']

function requestIdOf(headers: Headers): string | null {
  for (const name of REQUEST_ID_HEADERS) {
    const id = textOf(headers.get(name))
    if (id !== null) return id
  }
  return null
}

const HEADER_TEXT_MAX = 200

function textOf(value: string | null): string | null {
  return value === null || value === '' ? null : value.slice(0, HEADER_TEXT_MAX)
}

/** Where a redirect leads, without what may be secret in it. */
function targetOf(headers: Headers): string {
  const location = headers.get('location')
  if (location === null) return 'nowhere'
  const url = URL.parse(location)
  return url === null ? 'another path' : url.origin
}
