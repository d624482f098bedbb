import { AsyncLocalStorage } from 'node:async_hooks'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'

/** What can be seen of a request on its way out. */
export interface ConnectWatcher {
  /** It waits for a connection. */
  readonly onQueued: () => void
  /** It has one, and its headers go out. */
  readonly onConnected: () => void
}

/**
 * Runs a fetch and reports when its connection stands. Fetch itself tells nothing before the head of the response;
 * Node's own says more on its diagnostics channels. A request is known there by the async context that it was made
 * in, so that others in the same process, to the same place, are not taken for it. Another fetch reports nothing.
 */
export async function withConnectProbe<Value>(
  watcher: ConnectWatcher,
  send: () => Promise<Value>,
): Promise<Value> {
  listen()
  try {
    return await sender.run(watcher, send)
  } finally {
    unlisten()
  }
}

const sender = new AsyncLocalStorage<ConnectWatcher>()
const watchers = new WeakMap<object, ConnectWatcher>()
const CREATED = 'undici:request:create'
const SENT = 'undici:client:sendHeaders'
// One pair of listeners for all exchanges: one pair each would call every one for every request.
let open = 0

function listen(): void {
  open += 1
  if (open > 1) return
  subscribe(CREATED, onCreated)
  subscribe(SENT, onSent)
}

function unlisten(): void {
  open -= 1
  if (open > 0) return
  unsubscribe(CREATED, onCreated)
  unsubscribe(SENT, onSent)
}

function onCreated(message: unknown): void {
  const watcher = sender.getStore()
  const request = requestOf(message)
  if (watcher === undefined || request === null || watchers.has(request)) return
  watchers.set(request, watcher)
  watcher.onQueued()
}

// A connection is made and used in the context of whoever asked first: here only the request itself counts.
function onSent(message: unknown): void {
  const request = requestOf(message)
  if (request !== null) watchers.get(request)?.onConnected()
}

function requestOf(message: unknown): object | null {
  if (typeof message !== 'object' || message === null || !('request' in message)) return null
  const { request } = message
  return typeof request === 'object' ? request : null
}
