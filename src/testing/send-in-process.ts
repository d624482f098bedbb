import { Buffer } from 'node:buffer'

import type { Clock } from '../clock.ts'
import type { ModelRequest, SendFault } from '../loop/model.ts'
import type { CreateResponseBody } from '../protocol/requests.ts'
import { statusFault as providerStatusFault, type FaultPlace } from '../provider/fault.ts'
import { retryAtOf } from '../provider/retry-after.ts'
import { errorBody, statusRefusal } from '../provider/scripted/refusal.ts'
import { responseEvents } from '../provider/scripted/response-events.ts'
import type { ScriptFault, ScriptTurn } from '../provider/scripted/script.ts'
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

const CHUNK_BYTES = 1024

/** Gives a turn to a loop in the same process, byte for byte what a provider would send. */
export async function sendInProcess(
  request: ModelRequest,
  options: InProcessOptions,
): Promise<SendFault | null> {
  const { turn, clock } = options
  const { fault } = turn
  await wait(clock, turn.delay_ms ?? 0, request.signal)
  if (fault?.type === 'status') return statusFault(fault, clock)
  const bytes = bodyOf(options)
  const at = fault !== undefined && 'at_byte' in fault ? fault.at_byte : Number.POSITIVE_INFINITY
  if (at > 0 || fault?.type === 'truncate') {
    const isRaw = fault?.type === 'raw' || fault?.type === 'raw_base64'
    const contentType = (isRaw ? fault.content_type : undefined) ?? 'text/event-stream'
    request.onHead({ status: 200, requestId: options.responseId.replace('resp', 'req'), contentType })
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
  const { fault } = turn
  if (fault?.type === 'raw') return Buffer.from(fault.text)
  if (fault?.type === 'raw_base64') return Buffer.from(fault.base64, 'base64')
  const createdAt = Math.floor(clock.now() / 1000)
  const { events } = responseEvents({ turn, request, responseId, createdAt })
  return Buffer.from([...events.map(sseText), SSE_DONE].join(''))
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
