// An Open Responses endpoint over HTTP. It reports what comes in as it comes, bounds how long and how much, and says
// of every failure whether to try again; it never tries again itself, and keeps nothing from one request to the next.
import { createHash } from 'node:crypto'

import { systemClock, type Clock } from '../clock.ts'
import { LoopchartError } from '../errors.ts'
import { resolveEndpoint, type Endpoint, type EndpointOptions } from './endpoint.ts'
import { exchange, type ExchangeHead, type Wire } from './exchange.ts'
import type { ProviderFault } from './fault.ts'
import type { ProfileName } from './profiles.ts'
import { transportOf } from './own-transport.ts'
import type { BodyPiece } from './transport.ts'
import { CAPS, STREAM_TIMEOUTS, WHOLE_TIMEOUTS, withGiven, type Caps, type Timeouts } from './timeouts.ts'

export interface OpenResponsesOptions extends EndpointOptions {
  /** As the provider calls it. */
  readonly model: string
  /** Whether responses come in pieces; true when left out. */
  readonly stream?: boolean | undefined
  /** How many tokens a request and its response may have together; not known when left out. */
  readonly contextWindow?: number | undefined
  /** Whether it has `POST /responses/compact`; as its profile says when left out. */
  readonly compact?: boolean | undefined
  readonly timeouts?: Partial<Timeouts> | undefined
  readonly caps?: Partial<Caps> | undefined
  /**
   * Sends instead of our own connections. Without it, what was set for Node's fetch is used all the same: a fetch in its
   * place, a dispatcher.
   */
  readonly fetch?: typeof globalThis.fetch | undefined
  readonly clock?: Clock | undefined
}

/** What one request brings along: the exact text to send, and who takes what comes back. */
export interface SendOptions {
  readonly body: string
  readonly pieces?: readonly BodyPiece[] | undefined
  readonly idempotencyKey: string
  readonly signal: AbortSignal
  readonly onHead: (head: ExchangeHead) => void
  readonly onChunk: (chunk: Uint8Array) => boolean
}

/** A model behind an HTTP endpoint; fits what `agent()` takes. */
export interface OpenResponsesModel {
  readonly name: string
  readonly endpoint: string
  readonly profile: ProfileName
  readonly isStreamed: boolean
  readonly canContinueById: boolean | null
  /** Fields of a request that this provider refuses. */
  readonly unsupported: readonly string[]
  readonly followUpMessage: string | null
  /** Whether it takes the calls of earlier runs as `function_call` items. */
  readonly nativeToolHistory: boolean
  /** How many tokens a request and its response may have together; null: not known. */
  readonly contextWindow: number | null
  /** Where it makes a conversation shorter; null: it has no such place, or is not known to. */
  readonly compact: OpenResponsesCompact | null
  readonly send: SendBody
}

/** The provider's own compaction: a whole body there and back, never a stream. */
interface OpenResponsesCompact {
  readonly endpoint: string
  readonly send: SendBody
}

type SendBody = (request: SendOptions) => Promise<ProviderFault | null>

/** Describes a model at an Open Responses endpoint. Throws `provider_invalid` at once for what cannot work. */
export function openResponses(options: OpenResponsesOptions): OpenResponsesModel {
  const { model, stream = true } = options
  checkOptions(options)
  const endpoint = resolveEndpoint(options)
  const { profile } = endpoint
  const place = endpoint.placeOf('responses')
  return {
    name: model,
    endpoint: place.url,
    profile: profile.name,
    isStreamed: stream,
    canContinueById: profile.canContinueById,
    unsupported: profile.unsupported,
    followUpMessage: profile.followUpMessage,
    nativeToolHistory: profile.nativeToolHistory,
    contextWindow: options.contextWindow ?? profile.contextWindow,
    compact: compactOf(options, endpoint),
    send: senderTo('responses', endpoint, wireOf(options, stream), stream ? 'stream' : 'body'),
  }
}

function checkOptions({ model, stream, contextWindow, compact }: OpenResponsesOptions): void {
  if (typeof model !== 'string' || model.trim() === '') {
    throw new LoopchartError('provider_invalid', 'model must name a model, such as gpt-5.2')
  }
  for (const [name, value] of Object.entries({ stream, compact })) {
    if (value === undefined || typeof value === 'boolean') continue
    throw new LoopchartError('provider_invalid', `${name} must be true or false`)
  }
  if (contextWindow !== undefined && (!Number.isSafeInteger(contextWindow) || contextWindow <= 0)) {
    throw new LoopchartError('provider_invalid', 'contextWindow must be a whole number of tokens above 0')
  }
}

const COMPACT_PATH = 'responses/compact'

function compactOf(options: OpenResponsesOptions, endpoint: Endpoint): OpenResponsesCompact | null {
  if ((options.compact ?? endpoint.profile.canCompact) !== true) return null
  return {
    endpoint: endpoint.placeOf(COMPACT_PATH).url,
    send: senderTo(COMPACT_PATH, endpoint, wireOf(options, false), 'body'),
  }
}

function wireOf(options: OpenResponsesOptions, isStreamed: boolean): Wire {
  return {
    transport: transportOf(options.fetch),
    clock: options.clock ?? systemClock,
    timeouts: withGiven('timeouts', isStreamed ? STREAM_TIMEOUTS : WHOLE_TIMEOUTS, options.timeouts),
    caps: withGiven('caps', CAPS, options.caps),
  }
}

function senderTo(path: string, endpoint: Endpoint, wire: Wire, expects: 'stream' | 'body'): SendBody {
  const { urlOf, placeOf } = endpoint
  const place = placeOf(path)
  const url = urlOf(path)
  const headers = {
    'user-agent': 'loopchart',
    ...endpoint.headers,
    'content-type': 'application/json',
    accept: expects === 'stream' ? 'text/event-stream, application/json' : 'application/json',
    // A compressed stream waits in somebody's buffer, and a small one may be a very large one.
    'accept-encoding': 'identity',
  }
  return ({ body, pieces, idempotencyKey, signal, onHead, onChunk }) =>
    exchange(wire, {
      method: 'POST',
      url,
      place,
      headers,
      idempotencyKey: headerSafe(idempotencyKey),
      body,
      pieces,
      expects,
      signal,
      onHead,
      onChunk,
    })
}

// The run's id is in the key, and a caller may choose that.
const KEY_LENGTH_MAX = 200
const KEY = /^[\x21-\x7e]+$/u

function headerSafe(key: string): string {
  const isSafe = key.length <= KEY_LENGTH_MAX && KEY.test(key)
  return isSafe ? key : createHash('sha256').update(key).digest('hex')
}
