import { systemClock } from '../clock.ts'
import type { JsonObject } from '../protocol/json.ts'
import type { ValidationProfile } from '../protocol/validation-profile.ts'
import { resolveEndpoint } from '../provider/endpoint.ts'
import { exchange } from '../provider/exchange.ts'
import type { ProviderFault } from '../provider/fault.ts'
import { transportOf } from '../provider/own-transport.ts'
import { CAPS, STREAM_TIMEOUTS } from '../provider/timeouts.ts'
import type { AssembledResponse } from '../stream/assemble-response.ts'
import type { StreamEvent } from '../stream/event-pipeline.ts'
import { createBodyReader, createStreamReader, type ResponseReader } from '../stream/response-reader.ts'

/** What came of one request. */
export interface ProbeAnswer {
  /** Null: there was no answer at all. */
  readonly status: number | null
  readonly contentType: string | null
  readonly fault: ProviderFault | null
  readonly events: readonly StreamEvent[]
  /** Null when the provider refused, or did not answer. */
  readonly response: AssembledResponse | null
}

export interface ProbeClientOptions {
  readonly baseUrl: string
  readonly apiKey: string
  /** Holds what comes back to the specification. */
  readonly profile: ValidationProfile
  readonly signal: AbortSignal
}

/** Sends one request to a path below the base URL. */
export type SendProbe = (body: JsonObject, path?: string) => Promise<ProbeAnswer>

const TOTAL_MS = 60_000

/** A way to send single requests and keep everything about their answers. Nothing is sent twice. */
export function createProbeClient({ baseUrl, apiKey, profile, signal }: ProbeClientOptions): SendProbe {
  const { headers, urlOf, placeOf } = resolveEndpoint({ baseUrl, apiKey })
  const timeouts = { ...STREAM_TIMEOUTS, headersMs: TOTAL_MS, idleMs: TOTAL_MS, totalMs: TOTAL_MS }
  const wire = { transport: transportOf(undefined), clock: systemClock, timeouts, caps: CAPS }
  return async (body, path = 'responses') => {
    const events: StreamEvent[] = []
    const isStreamed = body['stream'] === true
    const head: { status: number | null; contentType: string | null } = { status: null, contentType: null }
    let reader: ResponseReader | null = null
    const read = (): ResponseReader => {
      const isBody = head.contentType === null ? !isStreamed : /\bjson\b/iu.test(head.contentType)
      const create = isBody ? createBodyReader : createStreamReader
      return (reader ??= create({ profile, onEvent: (event) => events.push(event) }))
    }
    const fault = await exchange(wire, {
      method: 'POST',
      url: urlOf(path),
      place: placeOf(path),
      headers: {
        'user-agent': 'loopchart',
        ...headers,
        'content-type': 'application/json',
        accept: isStreamed ? 'text/event-stream' : 'application/json',
        'accept-encoding': 'identity',
      },
      idempotencyKey: null,
      body: JSON.stringify(body),
      expects: isStreamed ? 'stream' : 'body',
      signal,
      onHead: ({ status, contentType }) => Object.assign(head, { status, contentType }),
      onChunk: (chunk) => read().feed(chunk),
    })
    return { ...head, fault, events, response: fault === null ? read().end() : null }
  }
}
