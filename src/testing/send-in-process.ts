import { Buffer } from 'node:buffer'

import type { Clock } from '../clock.ts'
import type { ModelRequest, SendFault } from '../loop/model.ts'
import type { CreateResponseBody } from '../protocol/requests.ts'
import { statusFault as providerStatusFault, type FaultPlace } from '../provider/fault.ts'
import { retryAtOf } from '../provider/retry-after.ts'
import { errorBody, statusRefusal, type Refusal } from '../provider/scripted/refusal.ts'
import { responseEvents } from '../provider/scripted/response-events.ts'
import type { ScriptCompaction, ScriptFault, ScriptTurn } from '../provider/scripted/script.ts'
import { SSE_DONE, sseText } from '../provider/scripted/sse-text.ts'
import { createRedactor } from '../provider/secrets.ts'

export interface InProcessOptions {
  readonly turn: ScriptTurn
  readonly request: CreateResponseBody
  readonly responseId: string
  readonly clock: Clock
  /** The model will send nothing more, and does not say so. */
  readonly onStall?: () => void
}

export interface WholeOptions {
  readonly compaction: ScriptCompaction
  /** Sent as JSON. */
  readonly body: object
  readonly requestId: string
  readonly clock: Clock
}

const CHUNK_BYTES = 1024

/** Gives a turn to a loop in the same process, byte for byte what a provider would send. */
export function sendInProcess(request: ModelRequest, options: InProcessOptions): Promise<SendFault | null> {
  const { turn, responseId, clock, onStall } = options
  return send(request, {
    turn,
    bytes: () => bodyOf(options),
    usualType: 'text/event-stream',
    requestId: responseId.replace('resp', 'req'),
    clock,
    onStall,
  })
}

/** Gives a compaction in the same way: one body of JSON. */
export function sendWholeInProcess(request: ModelRequest, options: WholeOptions): Promise<SendFault | null> {
  const { compaction, body, requestId, clock } = options
  return send(request, {
    turn: compaction,
    bytes: () => rawBytes(compaction) ?? Buffer.from(JSON.stringify(body)),
    usualType: 'application/json',
    requestId,
    clock,
    onStall: undefined,
  })
}

/** Says no as a provider does. */
export function refuseInProcess(refusal: Refusal, clock: Clock): SendFault {
  return statusFault({ type: 'status', status: refusal.status, body: errorBody(refusal) }, clock)
}

interface Sending {
  readonly turn: ScriptCompaction
  readonly bytes: () => Buffer
  readonly usualType: string
  readonly requestId: string
  readonly clock: Clock
  readonly onStall: (() => void) | undefined
}

async function send(request: ModelRequest, options: Sending): Promise<SendFault | null> {
  const { turn, clock, requestId, usualType } = options
  const { fault } = turn
  await wait(clock, turn.delay_ms ?? 0, request.signal)
  if (fault?.type === 'status') return statusFault(fault, clock)
  const bytes = options.bytes()
  const at = fault !== undefined && 'at_byte' in fault ? fault.at_byte : Number.POSITIVE_INFINITY
  if (at > 0 || fault?.type === 'truncate') {
    const isRaw = fault?.type === 'raw' || fault?.type === 'raw_base64'
    const contentType = (isRaw ? fault.content_type : undefined) ?? usualType
    request.onHead({ status: 200, requestId, contentType })
    const size = turn.chunk_bytes ?? CHUNK_BYTES
    const until = Math.min(bytes.length, at)
    for (let from = 0; from < until; from += size) {
      if (request.signal.aborted) return null
      if (!request.onChunk(bytes.subarray(from, Math.min(from + size, until)))) return null
      await Promise.resolve()
    }
  }
  if (fault?.type === 'stall' && at <= bytes.length) return stall(request.signal, options.onStall)
  return fault?.type === 'reset' && at <= bytes.length ? CONNECTION_LOST : null
}

const CONNECTION_LOST: SendFault = {
  code: 'connection_lost',
  message: 'the connection was reset',
  provider: null,
  isRetryable: true,
  retryAt: null,
}

function bodyOf({ turn, request, responseId, clock }: InProcessOptions): Buffer {
  const raw = rawBytes(turn)
  if (raw !== null) return raw
  const createdAt = Math.floor(clock.now() / 1000)
  const { events } = responseEvents({ turn, request, responseId, createdAt })
  return Buffer.from([...events.map(sseText), SSE_DONE].join(''))
}

function rawBytes({ fault }: ScriptCompaction): Buffer | null {
  if (fault?.type === 'raw') return Buffer.from(fault.text)
  return fault?.type === 'raw_base64' ? Buffer.from(fault.base64, 'base64') : null
}

/** As the same answer over HTTP is taken, by the one retry table. */
function statusFault(fault: Extract<ScriptFault, { type: 'status' }>, clock: Clock): SendFault {
  const { status, headers = {}, body = errorBody(statusRefusal(status)) } = fault
  const given = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
  return providerStatusFault(PLACE, {
    status,
    body: typeof body === 'string' ? body : JSON.stringify(body),
    retryAt: retryAtOf({ get: (name) => given.get(name) ?? null }, clock.now()),
  })
}

const PLACE: FaultPlace = {
  url: 'the scripted model',
  keyAdvice: 'the script says so',
  redact: createRedactor([]),
}

/** Until somebody lets go of the request. */
function stall(signal: AbortSignal, onStall: (() => void) | undefined): Promise<null> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve(null)
    signal.addEventListener('abort', () => resolve(null), { once: true })
    onStall?.()
  })
}

function wait(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  if (ms === 0 || signal.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const disarm = clock.setTimer(clock.now() + ms, resolve)
    const stop = (): void => {
      disarm()
      resolve()
    }
    signal.addEventListener('abort', stop, { once: true })
  })
}
