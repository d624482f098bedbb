import { LoopchartError } from '../errors.ts'
import { RequestRefusal } from './request-refusal.ts'

// What a client can write there: a name or an address, with a port behind it or without.
const HOST = /^(?:[\w.-]+|\[[\da-f:.]+(?:%[\w.-]+)?\])(?::\d{1,5})?$/iu

/** The values of Host that are let in. */
export class AllowedHosts {
  readonly #hosts = new Set<string>()

  constructor(hosts: readonly string[]) {
    this.add(hosts)
  }

  /** Throws `usage` for what no request can have as its Host, such as a whole URL: it would let nobody in. */
  add(hosts: readonly string[]): void {
    for (const host of hosts) {
      if (!HOST.test(host)) {
        throw new LoopchartError(
          'usage',
          `a host must be as in the Host header, such as agents.example or 127.0.0.1:8080, it is ${JSON.stringify(host)}`,
        )
      }
      this.#hosts.add(host.toLowerCase())
    }
  }

  has(host: string): boolean {
    return this.#hosts.has(host)
  }
}

const SITES: ReadonlySet<string | null> = new Set([null, 'same-origin', 'none'])
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST'])

/**
 * Refuses what a page of another site could send, on every route and before anything else: a Host that is not ours (a
 * name that was made to point here), an Origin that is not that host, a request that a browser says comes from another
 * site, a body that a form could send. Loopback is no exception, and what is missing proves nothing: a token is asked
 * for after this.
 */
export function guardRequest({ method, url, headers }: Request, hosts: AllowedHosts): void {
  const host = (headers.get('host') ?? new URL(url).host).toLowerCase()
  if (!hosts.has(host)) throw new RequestRefusal('host_refused', 'this host is not served here')
  const origin = headers.get('origin')?.toLowerCase() ?? null
  if (origin !== null && origin !== `http://${host}` && origin !== `https://${host}`) {
    throw new RequestRefusal('origin_refused', 'requests from another origin are refused')
  }
  if (!SITES.has(headers.get('sec-fetch-site'))) {
    throw new RequestRefusal('origin_refused', 'requests from another site are refused')
  }
  if (!METHODS.has(method)) throw methodRefused(['GET', 'POST'])
  const contentType = headers.get('content-type')
  if (contentType === null ? method === 'POST' : !isJson(contentType)) {
    throw new RequestRefusal('content_type_refused', 'the content type must be application/json')
  }
}

/** The refusal of a method, with those that there are. */
export function methodRefused(allowed: readonly string[]): RequestRefusal {
  const allow = allowed.join(', ')
  return new RequestRefusal('method_refused', `the method must be one of ${allow}`, { headers: { allow } })
}

function isJson(contentType: string): boolean {
  return /^application\/json *(?:; *charset="?utf-8"? *)?$/iu.test(contentType)
}
