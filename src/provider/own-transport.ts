import { LoopchartError } from '../errors.ts'
import { dispatcherTransport, type Dispatcher } from './dispatcher-transport.ts'
import { fetchTransport } from './fetch-transport.ts'
import type { Transport } from './transport.ts'

/** The transport for a fetch that was given, or the best there is. Throws `provider_invalid` for what is no fetch. */
export function transportOf(fetch: typeof globalThis.fetch | undefined): Transport {
  if (fetch === undefined) return ownTransport
  if (typeof fetch !== 'function') throw new LoopchartError('provider_invalid', 'fetch must be a function')
  return fetchTransport(fetch)
}

/**
 * Goes straight to what Node's fetch would use, as long as the fetch is Node's: one that somebody put in its place is
 * there for a reason. Looked up with each request, since a fetch or a dispatcher may be set at any time.
 */
const ownTransport: Transport = (request, sink) => {
  const dispatcher = globalThis.fetch === NODE_FETCH ? globalDispatcher() : null
  const transport =
    dispatcher === null
      ? fetchTransport((input, init) => globalThis.fetch(input, init))
      : dispatcherTransport(dispatcher)
  return transport(request, sink)
}

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

function isDispatcher(value: unknown): value is Dispatcher {
  return (
    typeof value === 'object' && value !== null && 'dispatch' in value && typeof value.dispatch === 'function'
  )
}
