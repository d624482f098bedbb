import { channel } from 'node:diagnostics_channel'

import { LoopchartError } from '../errors.ts'
import { dispatcherTransport, type Dispatcher } from './dispatcher-transport.ts'
import { fetchTransport } from './fetch-transport.ts'
import { socketTransport } from './socket-transport.ts'
import type { Transport } from './transport.ts'

/** The transport for a fetch that was given, or the best there is. Throws `provider_invalid` for what is no fetch. */
export function transportOf(fetch: typeof globalThis.fetch | undefined): Transport {
  if (fetch === undefined) return ownTransport
  if (typeof fetch !== 'function') throw new LoopchartError('provider_invalid', 'fetch must be a function')
  return fetchTransport(fetch)
}

/**
 * Sends over sockets of its own, as long as nobody has set anything for Node's fetch: a fetch in its place, a dispatcher (a
 * proxy, a mock) or somebody who watches its requests is there for a reason, and is used. Looked up with each request,
 * since they may be set at any time.
 */
const ownTransport: Transport = (request, sink) => bestTransport()(request, sink)

function bestTransport(): Transport {
  if (globalThis.fetch !== NODE_FETCH) return withFetchOfNow
  const set: unknown = Reflect.get(globalThis, DISPATCHER)
  if (!REQUESTS.hasSubscribers && (set === undefined || isPlainAgent(set))) return socketTransport
  const dispatcher = globalDispatcher()
  return dispatcher === null ? withFetchOfNow : dispatcherTransport(dispatcher)
}

const withFetchOfNow = fetchTransport((input, init) => globalThis.fetch(input, init))

// Those who trace the requests of a process listen here.
const REQUESTS = channel('undici:request:create')

const NODE_FETCH = isNodes(globalThis.fetch) ? globalThis.fetch : null

/** Node's own loads undici when it is first called, and says so in its text; one that wraps it does not. */
function isNodes(fetch: unknown): boolean {
  return typeof fetch === 'function' && String(fetch).includes('internal/deps/undici')
}

// The name has the version of the interface in it: what stands under it takes handlers of that version.
const DISPATCHER = Symbol.for('undici.globalDispatcher.1')

/** The dispatcher behind Node's fetch; null where there is none, as in other runtimes. */
function globalDispatcher(): Dispatcher | null {
  const set: unknown = Reflect.get(globalThis, DISPATCHER)
  if (isDispatcher(set)) return set
  // Node sets it when it loads undici, which reading one of its classes makes it do.
  void globalThis.Headers
  const loaded: unknown = Reflect.get(globalThis, DISPATCHER)
  return isDispatcher(loaded) ? loaded : null
}

/**
 * Whether a dispatcher is the one that Node makes for its fetch, without a single option: then it does nothing that
 * sockets would not do. What is not certain to be it is not.
 */
function isPlainAgent(value: unknown): boolean {
  if (!isDispatcher(value)) return false
  const own: unknown = Object.getPrototypeOf(value)
  const base: unknown = own === null ? null : Object.getPrototypeOf(own)
  // What extends it may do more, also under the same name.
  if (nameOf(own) !== 'Agent' || nameOf(base) !== 'DispatcherBase') return false
  if (!isDispatcher(base) || value.dispatch !== base.dispatch) return false
  const factory = hiddenIn(value, 'factory')
  if (typeof factory !== 'function' || factory.name !== 'defaultFactory') return false
  const options = hiddenIn(value, 'options')
  if (typeof options !== 'object' || options === null) return false
  return Object.values(options).every((option) => option === undefined || option === Number.POSITIVE_INFINITY)
}

function nameOf(prototype: unknown): unknown {
  return typeof prototype === 'object' && prototype !== null ? prototype.constructor.name : null
}

function hiddenIn(value: object, name: string): unknown {
  const hidden = Object.getOwnPropertySymbols(value).find(({ description }) => description === name)
  return hidden === undefined ? undefined : Reflect.get(value, hidden)
}

function isDispatcher(value: unknown): value is Dispatcher {
  return (
    typeof value === 'object' && value !== null && 'dispatch' in value && typeof value.dispatch === 'function'
  )
}
