// Between node:http and a handler of web requests. @hono/node-server's listener fails tests of this one: a body whose
// client left while it was made, or that answers HEAD, is never cancelled, so that its cursor stays; a body that fails
// early ends like a whole one; a client that takes nothing is kept for ever; two Hosts and absolute targets get in.
import type { IncomingMessage, ServerResponse } from 'node:http'

import { systemClock, type Clock } from '../clock.ts'
import { BASE_HEADERS } from './answer.ts'
import { refusalOf, requestFrom } from './node-request.ts'
import { sendResponse } from './node-response.ts'

/** What answers web requests, such as a service, or an app of a framework that a service is mounted in. */
export interface FetchHandler {
  readonly fetch: (request: Request) => Response | Promise<Response>
}

export interface NodeListenerOptions {
  /**
   * How long a client may take nothing of what was written before its connection is closed; 60 seconds without it, which
   * is after the service itself has given the reader up.
   */
  readonly stalledMs?: number
  readonly clock?: Clock
}

/** A listener for node:http, and for what is built on it. */
export type NodeListener = (request: IncomingMessage, response: ServerResponse) => void

const STALLED_MS = 60_000

/**
 * Lets a service answer the requests of node:http, Express or Fastify. Two Host headers and a target that is not a path
 * are refused before anything else. Nothing is read ahead: what a client does not take is not asked of the service, and
 * a client that leaves aborts its request and cancels the body that it got. Mount it before anything that reads bodies.
 */
export function nodeListener(
  service: FetchHandler,
  { stalledMs = STALLED_MS, clock = systemClock }: NodeListenerOptions = {},
): NodeListener {
  return (incoming, outgoing) => {
    const gone = new AbortController()
    // Not the request's: that one is closed as soon as its body has been read.
    outgoing.once('close', () => gone.abort())
    // A connection that breaks is told by its close; without a listener the error would end the process.
    incoming.on('error', () => undefined)
    outgoing.on('error', () => undefined)
    void answerTo(service, incoming, gone.signal).then((response) =>
      sendResponse(response, { incoming, outgoing, stalledMs, clock }),
    )
  }
}

/** The answer to a request. A handler that fails must not tell a client why. */
async function answerTo(
  service: FetchHandler,
  incoming: IncomingMessage,
  signal: AbortSignal,
): Promise<Response> {
  const refusal = refusalOf(incoming)
  if (refusal !== null) return errorResponse(refusal.status, refusal.code, refusal.message)
  const request = requestFrom(incoming, signal)
  if (request === null) return errorResponse(400, 'request_invalid', 'the request cannot be read')
  try {
    return await service.fetch(request)
  } catch {
    return errorResponse(500, 'internal_error', 'the request could not be answered')
  }
}

function errorResponse(status: number, code: string, message: string): Response {
  return Response.json({ error: { code, message } }, { status, headers: BASE_HEADERS })
}
