import { AsyncLocalStorage } from 'node:async_hooks'

import { withConnectProbe } from './connect-probe.ts'
import { headersOf, type Transport, type TransportSink } from './transport.ts'

/** Sends with a fetch: somebody's own, or one that was put in the place of Node's. */
export function fetchTransport(fetch: typeof globalThis.fetch): Transport {
  return (request, sink) => {
    const { method, url, body } = request
    const controller = new AbortController()
    const { signal } = controller
    const init: RequestInit = { method, headers: headersOf(request), body, signal, redirect: 'manual' }
    const watcher = { onQueued: () => sink.onQueued(), onConnected: () => sink.onConnected() }
    void withConnectProbe(watcher, () => deliver(() => fetch(url, init), sink, signal))
    // A limit runs out in nobody's context; the fetch hears of it in that of who sent the request.
    const enter = AsyncLocalStorage.snapshot()
    return () => enter(() => controller.abort())
  }
}

/** Never rejects: what goes wrong is told. */
async function deliver(
  send: () => Promise<Response>,
  sink: TransportSink,
  signal: AbortSignal,
): Promise<void> {
  try {
    const response = await send()
    // Nobody waits for this one any more, and its fetch did not listen.
    if (signal.aborted) return void response.body?.cancel().catch(() => undefined)
    const { type, status, headers, body } = response
    const reader = body?.getReader() ?? null
    // Nor does every body listen to the signal of its fetch.
    signal.addEventListener('abort', () => void reader?.cancel().catch(() => undefined))
    // A browser's fetch hides what it does not follow.
    sink.onHead(type === 'opaqueredirect' ? 0 : status, headers, reader !== null)
    if (reader !== null) await pump(reader, sink, signal)
    if (!signal.aborted) sink.onEnd()
  } catch (error) {
    if (!signal.aborted) sink.onError(error)
  }
}

async function pump(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  sink: TransportSink,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const { done, value } = await reader.read()
    if (done || signal.aborted) return
    sink.onChunk(value)
  }
}
