import type { IncomingMessage, ServerResponse } from 'node:http'

import type { Clock } from '../clock.ts'

export interface Exchange {
  readonly incoming: IncomingMessage
  readonly outgoing: ServerResponse
  /** How long a client may take nothing of what was written. */
  readonly stalledMs: number
  readonly clock: Clock
}

const LINGER_MS = 1_000

/** Sends a web response; resolves when all of it is written or the client is gone. It never rejects. */
export async function sendResponse(response: Response, exchange: Exchange): Promise<void> {
  const { incoming, outgoing } = exchange
  const { body } = response
  // Gone while the answer was made, or answered by somebody else, such as a timeout.
  if (outgoing.destroyed || outgoing.headersSent) {
    await body?.cancel().catch(() => undefined)
    return
  }
  try {
    outgoing.writeHead(response.status, [...response.headers].flat())
  } catch {
    // An answer that HTTP has no way to say, such as Response.error(): nobody must take it for another.
    outgoing.destroy()
    await body?.cancel().catch(() => undefined)
    return
  }
  if (!incoming.complete) linger(exchange)
  if (body === null || incoming.method === 'HEAD') {
    outgoing.end()
    await body?.cancel().catch(() => undefined)
    return
  }
  outgoing.flushHeaders()
  await pump(body, exchange)
}

/** Writes a body as fast as the client takes it. */
async function pump(body: ReadableStream<Uint8Array>, exchange: Exchange): Promise<void> {
  const { outgoing } = exchange
  const reader = body.getReader()
  // At once and not after the next chunk, which may never come.
  outgoing.once('close', () => void reader.cancel().catch(() => undefined))
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (outgoing.destroyed) return
      if (done) break
      if (!outgoing.write(value)) await untilTaken(exchange)
    }
    outgoing.end()
  } catch {
    // Broken off, so that nobody takes the part that was sent for the whole.
    outgoing.destroy()
  }
}

/** Resolves when the client has taken what was written, or its connection is closed, which it is if that takes too long. */
async function untilTaken({ outgoing, stalledMs, clock }: Exchange): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const disarm = clock.setTimer(clock.now() + stalledMs, () => void outgoing.destroy())
  outgoing.once('drain', resolve)
  outgoing.once('close', resolve)
  await promise
  disarm()
  outgoing.off('drain', resolve)
  outgoing.off('close', resolve)
}

/**
 * Takes in for a moment what is left of a request that was answered early: a connection that is closed with bytes unread
 * is reset, and the answer can be lost with it. A client that goes on for longer is cut off. Nothing of it is kept.
 */
function linger({ incoming, outgoing, clock }: Exchange): void {
  outgoing.once('finish', () => {
    if (incoming.complete || incoming.destroyed) return
    const disarm = clock.setTimer(clock.now() + LINGER_MS, () => void incoming.destroy())
    incoming.once('close', disarm)
    incoming.resume()
  })
}
