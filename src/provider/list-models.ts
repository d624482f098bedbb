import { Buffer } from 'node:buffer'

import { systemClock, type Clock } from '../clock.ts'
import { LoopchartError } from '../errors.ts'
import { isJsonObject, parseJson, type Json } from '../protocol/json.ts'
import { resolveEndpoint, type EndpointOptions } from './endpoint.ts'
import { exchange } from './exchange.ts'
import { transportOf } from './own-transport.ts'
import { CAPS, LIST_TIMEOUTS, withGiven, type Caps, type Timeouts } from './timeouts.ts'

export interface ListModelsOptions extends EndpointOptions {
  readonly timeouts?: Partial<Timeouts> | undefined
  readonly caps?: Partial<Caps> | undefined
  readonly fetch?: typeof globalThis.fetch | undefined
  readonly clock?: Clock | undefined
  readonly signal?: AbortSignal | undefined
}

export interface ListedModel {
  /** What to ask for; the provider's own text, not made safe for a terminal. */
  readonly id: string
  readonly ownedBy: string | null
}

/**
 * The models that an endpoint offers, by id. Nothing is tried twice. Rejects with a `LoopchartError`: with
 * `provider_invalid` for wrong options, otherwise with the code of what went wrong.
 */
export async function listModels(options: ListModelsOptions = {}): Promise<readonly ListedModel[]> {
  const { clock = systemClock, signal = new AbortController().signal } = options
  const { headers, urlOf, placeOf } = resolveEndpoint(options)
  const place = placeOf('models')
  const caps = withGiven('caps', CAPS, options.caps)
  const timeouts = withGiven('timeouts', LIST_TIMEOUTS, options.timeouts)
  const chunks: Buffer[] = []
  let length = 0
  const fault = await exchange(
    { transport: transportOf(options.fetch), clock, timeouts, caps },
    {
      method: 'GET',
      url: urlOf('models'),
      place,
      headers: {
        'user-agent': 'loopchart',
        ...headers,
        accept: 'application/json',
        'accept-encoding': 'identity',
      },
      idempotencyKey: null,
      body: null,
      expects: 'body',
      signal,
      onHead: () => undefined,
      onChunk: (chunk) => {
        chunks.push(Buffer.from(chunk))
        length += chunk.length
        return length <= caps.modelsBytesMax
      },
    },
  )
  if (fault !== null) throw new LoopchartError(fault.code, fault.message)
  if (length > caps.modelsBytesMax) {
    const message = `${place.url}: the list is larger than ${caps.modelsBytesMax} bytes`
    throw new LoopchartError('response_too_large', message)
  }
  const models = readModels(parseJson(Buffer.concat(chunks).toString('utf8')))
  if (models !== null) return models
  throw new LoopchartError(
    'response_unreadable',
    `${place.url}: that is no list of models; check the base URL`,
  )
}

/** `data` as the API of OpenAI has it, `models` as some have it beside that. */
function readModels(list: Json | undefined): readonly ListedModel[] | null {
  if (!isJsonObject(list)) return null
  const entries = 'data' in list ? list['data'] : list['models']
  // Without a model, some say null.
  if (entries === null) return []
  if (!Array.isArray(entries)) return null
  return entries
    .flatMap((entry: Json) => {
      if (!isJsonObject(entry)) return []
      const { id, owned_by: ownedBy } = entry
      if (typeof id !== 'string' || id === '') return []
      return [{ id, ownedBy: typeof ownedBy === 'string' ? ownedBy : null }]
    })
    .sort((a, b) => (a.id < b.id ? -1 : 1))
}
