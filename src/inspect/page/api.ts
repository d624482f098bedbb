import { isJsonObject, type JsonObject } from '../../protocol/json.ts'
import {
  parseAccess,
  parseCommandAnswer,
  parseFramePage,
  parseRunDiff,
  parseRunPage,
  parseRunSummary,
  type Access,
  type CommandAnswer,
  type FramePage,
  type RunDiff,
  type RunPage,
  type RunSummary,
} from './answers.ts'

/** What may be asked of a run. */
export type CommandName = 'cancel' | 'steer' | 'approve' | 'deny' | 'reconcile'

/** Which runs are asked for. */
export interface RunQuery {
  readonly state?: string
  readonly status?: string
  readonly q?: string
  readonly kind?: string
  readonly needs?: string
  readonly limit?: number
  readonly before?: string
}

/** The service, as far as the page speaks to it. Everything rejects with an {@link ApiError} when it is refused. */
export interface Api {
  readonly access: (signal?: AbortSignal) => Promise<Access>
  readonly runs: (query: RunQuery, signal?: AbortSignal) => Promise<RunPage>
  readonly run: (runId: string, signal?: AbortSignal) => Promise<RunSummary>
  /** Frames after a seq (-1: from the first on), at most 5,000 of them. */
  readonly frames: (runId: string, after: number, limit: number, signal?: AbortSignal) => Promise<FramePage>
  /** The stream of frames after a seq, as the service sends it. */
  readonly frameStream: (
    runId: string,
    after: number,
    signal: AbortSignal,
  ) => Promise<ReadableStream<Uint8Array>>
  /** Sends a command once: `body` is in the spelling of the service (`call`, `arguments_hash`, `reason`, ...). */
  readonly command: (runId: string, name: CommandName, body: JsonObject) => Promise<CommandAnswer>
  readonly diff: (a: string, b: string, signal?: AbortSignal) => Promise<RunDiff>
  /** A connection was lost: whoever answers next must show that it knows the token before it is sent the token. */
  readonly doubt: () => void
}

/** The service refused, or could not be reached. */
export class ApiError extends Error {
  override readonly name: string = 'ApiError'
  /** The HTTP status; 0 when there was no answer. */
  readonly status: number
  readonly code: string
  /** The state of the run, where the refusal came with it. */
  readonly state: string | null
  /** How long to wait before the next try, when the service said so. */
  readonly retryAfterMs: number | null

  constructor(status: number, message: string, details: ApiErrorDetails, options?: ErrorOptions) {
    super(message, options)
    this.status = status
    this.code = details.code
    this.state = details.state ?? null
    this.retryAfterMs = details.retryAfterMs ?? null
  }
}

/** What an {@link ApiError} carries besides its status and message. */
export interface ApiErrorDetails {
  readonly code: string
  readonly state?: string | null
  readonly retryAfterMs?: number | null
}

/** The code of the error when what answers does not know the token: another service, or one with other tokens. */
export const IMPOSTOR = 'impostor'

type Subtle = typeof globalThis.crypto.subtle

/** What the client needs from outside. */
export interface ApiOptions {
  /** What addresses are put behind; empty for addresses relative to the page. */
  readonly baseUrl: string
  readonly token: string
  readonly fetch: typeof fetch
  /** Left out where the browser has none: outside of localhost and https. */
  readonly subtle?: Subtle | undefined
  /** Whether the service is known to be there: it has just sent the page itself. */
  readonly isTrusted: boolean
}

/** Makes the client of the service. The token goes into one header and nowhere else. */
export function createApi(options: ApiOptions): Api {
  const { baseUrl, token, fetch } = options
  let { isTrusted } = options
  const ask = async (path: string, init: RequestInit): Promise<Response> => {
    const headers = new Headers(init.headers)
    headers.set('authorization', `Bearer ${token}`)
    let response: Response
    try {
      if (!isTrusted) await proveService(options)
      isTrusted = true
      response = await fetch(`${baseUrl}${path}`, { cache: 'no-store', ...init, headers })
    } catch (cause) {
      if (init.signal?.aborted === true || cause instanceof ApiError) throw cause
      isTrusted = false
      throw new ApiError(0, 'the service cannot be reached', { code: 'unreachable' }, { cause })
    }
    if (!response.ok) throw await refusalOf(response)
    return response
  }
  const get = async (path: string, signal?: AbortSignal): Promise<unknown> => {
    const response = await ask(path, { headers: { accept: 'application/json' }, ...(signal && { signal }) })
    return await jsonOf(response)
  }
  return {
    access: async (signal) => parseAccess(await get('access', signal)),
    runs: async (query, signal) => parseRunPage(await get(`runs${searchOf({ ...query })}`, signal)),
    run: async (runId, signal) => parseRunSummary(await get(runPath(runId), signal)),
    frames: async (runId, after, limit, signal) =>
      parseFramePage(await get(`${runPath(runId)}/frames${searchOf({ after, limit })}`, signal)),
    async frameStream(runId, after, signal) {
      const headers: Record<string, string> = { accept: 'text/event-stream' }
      if (after >= 0) headers['last-event-id'] = String(after)
      const { body } = await ask(`${runPath(runId)}/frames`, { headers, signal })
      if (body === null) throw new ApiError(0, 'the answer has no body', { code: 'unreachable' })
      return body
    },
    async command(runId, name, body) {
      const response = await ask(`${runPath(runId)}/${name}`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json',
          // Whoever presses twice, or sends again after a cut connection, means one command.
          'idempotency-key': crypto.randomUUID(),
        },
        body: JSON.stringify(body),
      })
      return parseCommandAnswer(await jsonOf(response))
    },
    diff: async (a, b, signal) => parseRunDiff(await get(`diff${searchOf({ a, b })}`, signal)),
    doubt() {
      isTrusted = false
    },
  }
}

/**
 * Sees that whoever answers knows the token. A program that has taken the port of a service that went away does not,
 * and must not be sent it.
 */
async function proveService({ baseUrl, token, fetch, subtle }: ApiOptions): Promise<void> {
  if (subtle === undefined) return
  const nonce = crypto.randomUUID()
  const response = await fetch(`${baseUrl}healthz${searchOf({ nonce })}`, { cache: 'no-store' })
  if (response.status >= 500 || response.status === 429) {
    // A service that is about to stop or has too much to do: that says nothing about whose it is.
    throw new ApiError(0, 'the service does not answer just now', { code: 'unreachable' })
  }
  const answer = await jsonOf(response).catch(() => null)
  const proofs = isJsonObject(answer) ? answer['proofs'] : null
  const proof = await hmacHex(subtle, token, nonce)
  if (Array.isArray(proofs) && proofs.includes(proof)) return
  throw new ApiError(0, 'what answers at this address is not the service that gave out the token', {
    code: IMPOSTOR,
  })
}

async function hmacHex(subtle: Subtle, secret: string, text: string): Promise<string> {
  const encoder = new TextEncoder()
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await subtle.importKey('raw', encoder.encode(secret), algorithm, false, ['sign'])
  const bytes = new Uint8Array(await subtle.sign('HMAC', key, encoder.encode(text)))
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}

function runPath(runId: string): string {
  return `runs/${encodeURIComponent(runId)}`
}

function searchOf(values: Readonly<Record<string, string | number | undefined>>): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined && value !== '') search.set(name, String(value))
  }
  return search.size === 0 ? '' : `?${search.toString()}`
}

async function jsonOf(response: Response): Promise<unknown> {
  try {
    return await response.json()
  } catch (cause) {
    throw new ApiError(response.status, 'the answer is not JSON', { code: 'unreadable' }, { cause })
  }
}

async function refusalOf(response: Response): Promise<ApiError> {
  const answer: unknown = await response.json().catch(() => null)
  const body = isJsonObject(answer) ? answer : {}
  const error = isJsonObject(body['error']) ? body['error'] : {}
  const { code, message } = error
  const state = body['state'] ?? error['state']
  return new ApiError(
    response.status,
    typeof message === 'string' ? message : `the service answered ${response.status}`,
    {
      code: typeof code === 'string' ? code : 'unknown',
      state: typeof state === 'string' ? state : null,
      retryAfterMs: secondsOf(response.headers.get('retry-after')),
    },
  )
}

function secondsOf(header: string | null): number | null {
  const seconds = header === null ? Number.NaN : Number(header)
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : null
}
