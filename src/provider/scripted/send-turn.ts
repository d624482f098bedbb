import { Buffer } from 'node:buffer'
import type { ServerResponse } from 'node:http'
import { setImmediate as nextTick } from 'node:timers/promises'

import type { Clock } from '../../clock.ts'
import { errorBody, statusRefusal } from './refusal.ts'
import type { BuiltResponse } from './response-events.ts'
import type { ScriptFault, ScriptTurn } from './script.ts'
import { SSE_DONE, sseText } from './sse-text.ts'

export interface SendOptions {
  readonly turn: ScriptTurn
  /** The bytes of the response, from `bodyPieces`. */
  readonly pieces: readonly Buffer[]
  readonly isStreamed: boolean
  readonly requestId: string
  readonly clock: Clock
  /** The connection is gone. */
  readonly signal: AbortSignal
}

/** Whether a turn gives its whole response, whatever happens after it. */
export function isWhole({ fault }: ScriptTurn, bodyLength: number): boolean {
  if (fault === undefined) return true
  return 'at_byte' in fault && fault.at_byte >= bodyLength
}

/** The bytes of a response, in the pieces in which they are sent. */
export function bodyPieces(turn: ScriptTurn, built: BuiltResponse, isStreamed: boolean): readonly Buffer[] {
  if (!isStreamed) return wholePieces(turn, built.response)
  const pieces = [...built.events.map(sseText), SSE_DONE].map((text) => Buffer.from(text))
  return turn.chunk_bytes === undefined ? pieces : cut(Buffer.concat(pieces), turn.chunk_bytes)
}

/** The bytes of a JSON body, in the pieces in which they are sent. */
export function wholePieces({ chunk_bytes: size }: ScriptTurn, body: object): readonly Buffer[] {
  const bytes = Buffer.from(JSON.stringify(body))
  return size === undefined ? [bytes] : cut(bytes, size)
}

function cut(bytes: Buffer, size: number): readonly Buffer[] {
  const pieces: Buffer[] = []
  for (let at = 0; at < bytes.length; at += size) pieces.push(bytes.subarray(at, at + size))
  return pieces
}

/** Sends what a turn says, with its waits and its faults. Resolves when nothing more will be sent. */
export async function sendTurn(outgoing: ServerResponse, options: SendOptions): Promise<void> {
  const { turn, isStreamed, requestId, clock, signal } = options
  const { fault } = turn
  await wait(clock, turn.delay_ms ?? 0, signal)
  if (signal.aborted) return
  outgoing.setHeader('x-request-id', requestId)
  if (fault?.type === 'status') return sendStatus(outgoing, fault)
  const isRaw = fault?.type === 'raw' || fault?.type === 'raw_base64'
  if (fault !== undefined && 'at_byte' in fault && fault.at_byte === 0 && fault.type !== 'truncate') {
    if (fault.type === 'reset') outgoing.socket?.resetAndDestroy()
    return
  }
  const usual = isStreamed ? 'text/event-stream' : 'application/json'
  outgoing.writeHead(200, {
    'content-type': isRaw ? (fault.content_type ?? usual) : usual,
    'cache-control': 'no-store',
  })
  // Otherwise the head waits for the first byte of the body.
  outgoing.flushHeaders()
  const pieces = isRaw ? [rawBytes(fault)] : options.pieces
  const until = fault !== undefined && 'at_byte' in fault ? fault.at_byte : Number.POSITIVE_INFINITY
  let sent = 0
  for (const piece of pieces) {
    if (isStreamed) await wait(clock, turn.event_delay_ms ?? 0, signal)
    if (signal.aborted) return
    await write(outgoing, piece.subarray(0, Math.max(0, until - sent)), signal)
    sent += piece.length
    if (sent >= until) break
  }
  await finish(outgoing, fault, signal)
}

async function finish(
  outgoing: ServerResponse,
  fault: ScriptFault | undefined,
  signal: AbortSignal,
): Promise<void> {
  if (signal.aborted) return
  if (fault?.type === 'reset') {
    // What was written is on its way by now; a reset does not take it back.
    await nextTick()
    outgoing.socket?.resetAndDestroy()
  } else if (fault?.type !== 'stall') {
    outgoing.end()
  }
}

function rawBytes(fault: Extract<ScriptFault, { type: 'raw' | 'raw_base64' }>): Buffer {
  return fault.type === 'raw' ? Buffer.from(fault.text) : Buffer.from(fault.base64, 'base64')
}

function sendStatus(outgoing: ServerResponse, fault: Extract<ScriptFault, { type: 'status' }>): void {
  const { status, headers = {}, body = errorBody(statusRefusal(fault.status)) } = fault
  const isText = typeof body === 'string'
  outgoing.writeHead(status, {
    'content-type': isText ? 'text/plain; charset=utf-8' : 'application/json',
    ...Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
  })
  outgoing.end(isText ? body : JSON.stringify(body))
}

function write(outgoing: ServerResponse, bytes: Uint8Array, signal: AbortSignal): Promise<void> {
  if (bytes.length === 0) return Promise.resolve()
  return new Promise((resolve) => {
    // Taken back each time: a body of many pieces would leave as many listeners, and adding one looks at all of them.
    const done = (): void => {
      signal.removeEventListener('abort', done)
      resolve()
    }
    outgoing.write(bytes, done)
    // Nobody calls back for what a broken connection did not take.
    signal.addEventListener('abort', done)
  })
}

function wait(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  if (ms === 0 || signal.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const done = (): void => {
      signal.removeEventListener('abort', done)
      disarm()
      resolve()
    }
    const disarm = clock.setTimer(clock.now() + ms, done)
    signal.addEventListener('abort', done)
  })
}
