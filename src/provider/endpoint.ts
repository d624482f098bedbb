import { LoopchartError } from '../errors.ts'
import type { FaultPlace } from './fault.ts'
import { profileFor, PROFILES, type ProfileName, type ProviderProfile } from './profiles.ts'
import { createRedactor, type Redactor } from './secrets.ts'

export interface EndpointOptions {
  /** Up to and without `/responses`; `OPENAI_BASE_URL`, or OpenAI's own, when left out. */
  readonly baseUrl?: string | undefined
  /** Empty: send none. Taken from the environment when left out, where it holds one for this very place. */
  readonly apiKey?: string | undefined
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** What to take the provider for; recognised by its base URL when left out. */
  readonly profile?: ProfileName | ProviderProfile | undefined
}

/** Where requests go, and what goes with each. */
export interface Endpoint {
  readonly profile: ProviderProfile
  /** The key and all else that must not be told. */
  readonly headers: Readonly<Record<string, string>>
  readonly urlOf: (path: string) => URL
  readonly placeOf: (path: string) => FaultPlace
}

/** Works out where to send to. Throws `provider_invalid` for what cannot work; no message has a secret in it. */
export function resolveEndpoint(options: EndpointOptions): Endpoint {
  const named = namedProfile(options.profile)
  const base = parseBaseUrl(
    options.baseUrl ?? named?.baseUrl ?? environment('OPENAI_BASE_URL') ?? PROFILES.openai.baseUrl ?? '',
  )
  const profile = named ?? profileFor(base)
  const extra = parseHeaders(options.headers ?? {})
  const { key, source } = findKey(options.apiKey, base, 'authorization' in extra)
  if (profile.needsKey && key === '' && !('authorization' in extra)) {
    throw new LoopchartError('provider_invalid', `${profile.name} needs a key: ${missingKeyAdvice(base)}`)
  }
  const headers = key === '' ? extra : { ...extra, authorization: `Bearer ${key}` }
  const redact: Redactor = createRedactor([key, ...Object.values(extra)])
  const keyAdvice = source === null ? `none was sent: ${missingKeyAdvice(base)}` : `check ${source}`
  const urlOf = (path: string): URL => {
    const url = new URL(base)
    url.pathname = `${base.pathname.replace(/\/+$/u, '')}/${path}`
    return url
  }
  return {
    profile,
    headers,
    urlOf,
    placeOf: (path) => ({ url: shown(urlOf(path)), keyAdvice, redact }),
  }
}

function namedProfile(profile: EndpointOptions['profile']): ProviderProfile | null {
  if (profile === undefined) return null
  if (typeof profile === 'object' && profile !== null) return profile
  if (Object.hasOwn(PROFILES, profile)) return PROFILES[profile]
  throw new LoopchartError('provider_invalid', `profile must be one of ${Object.keys(PROFILES).join(', ')}`)
}

function parseBaseUrl(text: string): URL {
  const url = typeof text === 'string' ? URL.parse(text.trim()) : null
  if (url === null) {
    throw new LoopchartError('provider_invalid', 'baseUrl is no URL; it must look like https://host/v1')
  }
  if (url.username !== '' || url.password !== '') {
    throw new LoopchartError('provider_invalid', 'baseUrl must hold no user and no password; use headers')
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new LoopchartError('provider_invalid', `baseUrl must be http or https, not ${url.protocol}`)
  }
  if (/\/responses\/*$/u.test(url.pathname)) {
    throw new LoopchartError('provider_invalid', 'baseUrl must end before /responses: that part is added')
  }
  url.hash = ''
  return url
}

// Set by us, or by fetch: a second value would contradict the first.
const OWN_HEADERS: ReadonlySet<string> = new Set([
  'accept',
  'accept-encoding',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'host',
  'idempotency-key',
  'transfer-encoding',
  'upgrade',
])

function parseHeaders(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const parsed: [string, string][] = []
  for (const [given, value] of Object.entries(headers)) {
    const name = given.toLowerCase()
    if (!/^[\w!#$%&'*+.^`|~-]+$/u.test(name)) {
      throw new LoopchartError('provider_invalid', 'headers has a name that no header can have')
    }
    if (OWN_HEADERS.has(name)) {
      throw new LoopchartError('provider_invalid', `headers must not set ${name}: it is set for you`)
    }
    parsed.push([name, sendable(`headers.${name}`, value)])
  }
  return Object.fromEntries(parsed)
}

/** A header's value, trimmed of spaces. Only ASCII: anything else is sent as bytes that each side reads its own way. */
function sendable(field: string, value: unknown): string {
  if (typeof value !== 'string') throw new LoopchartError('provider_invalid', `${field} must be a text`)
  if (!/^[\t\x20-\x7e]*$/u.test(value)) {
    const what = /[\r\n]/u.test(value) ? 'a line break' : 'a character that a header cannot carry'
    throw new LoopchartError('provider_invalid', `${field} has ${what} in it; its value is not shown here`)
  }
  return value.trim()
}

interface FoundKey {
  /** Empty: there is none. */
  readonly key: string
  /** Where it was found; null: nowhere. */
  readonly source: string | null
}

function findKey(given: string | undefined, base: URL, hasOwnHeader: boolean): FoundKey {
  if (given !== undefined) {
    const key = sendable('apiKey', given)
    if (key !== '' && hasOwnHeader) {
      throw new LoopchartError('provider_invalid', 'apiKey and headers.authorization contradict each other')
    }
    return { key, source: key === '' ? null : 'apiKey' }
  }
  if (hasOwnHeader) return { key: '', source: 'headers.authorization' }
  const variable = keyVariableFor(base)
  const key = variable === null ? undefined : environment(variable)
  if (variable === null || key === undefined) return { key: '', source: null }
  return { key: sendable(variable, key), source: variable }
}

/**
 * The variable with the key for a place. A key in the environment belongs to the place that the environment names, or
 * to that of its provider: another base URL, given in code or as an argument, does not get it.
 */
function keyVariableFor(base: URL): string | null {
  const itsOwn = URL.parse(environment('OPENAI_BASE_URL') ?? PROFILES.openai.baseUrl ?? '')
  if (itsOwn?.origin === base.origin) return 'OPENAI_API_KEY'
  // Of the provider that is there, and not of the one that somebody takes it for. The same host without TLS is
  // another place.
  const { keyVariable, baseUrl } = profileFor(base)
  return baseUrl !== null && URL.parse(baseUrl)?.origin === base.origin ? keyVariable : null
}

function missingKeyAdvice(base: URL): string {
  const variable = keyVariableFor(base)
  if (variable !== null) return `set ${variable}, or pass apiKey`
  return environment('OPENAI_API_KEY') === undefined
    ? 'pass apiKey'
    : `pass apiKey; OPENAI_API_KEY is sent only to OpenAI or to OPENAI_BASE_URL, not to ${base.origin}`
}

function environment(name: string): string | undefined {
  const value = process.env[name]
  return value === undefined || value.trim() === '' ? undefined : value
}

function shown(url: URL): string {
  return `${url.origin}${url.pathname}`
}
