import type { IncomingMessage, ServerResponse } from 'node:http'

import type { Clock } from '../../clock.ts'
import { LoopchartError } from '../../errors.ts'
import { isJsonObject, parseJson, type JsonObject } from '../../protocol/json.ts'
import type { CreateResponseBody } from '../../protocol/requests.ts'
import { checkCallsTaken } from './check-calls-taken.ts'
import { compactResponse } from './compact-response.ts'
import { Conversations, type Place } from './conversations.ts'
import { SCRIPTED_MODEL } from './open-response.ts'
import { parseTurn } from './parse-script.ts'
import { readCompactRequest } from './read-compact-request.ts'
import { readRequest, readText } from './read-request.ts'
import { badRequest, errorBody, type Refusal } from './refusal.ts'
import { responseEvents, type BuiltResponse } from './response-events.ts'
import type { ScriptCompaction, ScriptTurn } from './script.ts'
import { bodyPieces, isWhole, sendTurn, wholePieces } from './send-turn.ts'

/** A POST as it came. */
export interface RecordedRequest {
  readonly headers: Readonly<Record<string, string>>
  readonly body: JsonObject
}

/** Says what a turn is; null when there is none. */
type TurnOf = (request: CreateResponseBody, turn: number) => ScriptTurn | null | PromiseLike<ScriptTurn>

export interface EndpointOptions {
  readonly turnOf: TurnOf
  /** How the compaction with this number goes, from 1. */
  readonly compactionOf: (number: number) => ScriptCompaction
  readonly refusesCalls: boolean
  /** What it is known by, to itself: compactions from elsewhere are not taken. */
  readonly where: string
  readonly clock: Clock
}

const REQUESTS_MAX = 10_000

/** The routes of a scripted provider. Nothing that a client sends makes it fail. */
export class Endpoint {
  readonly requests: RecordedRequest[] = []
  readonly compactRequests: RecordedRequest[] = []
  readonly #options: EndpointOptions
  readonly #conversations: Conversations
  #responses = 0
  #compactions = 0
  #received = 0

  constructor(options: EndpointOptions) {
    this.#options = options
    this.#conversations = new Conversations(options.where)
  }

  /** Drops every stored response. */
  forget(): void {
    this.#conversations.forget()
  }

  /** Answers one request. Never rejects: a wrong request gets an error, a broken connection nothing. */
  async handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const gone = new AbortController()
    outgoing.once('close', () => gone.abort())
    outgoing.on('error', () => gone.abort())
    try {
      const refusal = await this.#route(incoming, outgoing, gone.signal)
      if (refusal !== null) refuse(outgoing, refusal)
    } catch (error) {
      // A body that broke off leaves nobody to answer.
      if (gone.signal.aborted || outgoing.headersSent) outgoing.destroy()
      else refuse(outgoing, scriptRefusal(error))
    }
  }

  async #route(
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    signal: AbortSignal,
  ): Promise<Refusal | null> {
    const { method = '' } = incoming
    const [path] = (incoming.url ?? '').split('?', 1)
    if (path === '/v1/models') return method === 'GET' ? listModels(outgoing) : wrongMethod(outgoing, 'GET')
    if (path === '/v1/responses') {
      return method === 'POST' ? this.#respond(incoming, outgoing, signal) : wrongMethod(outgoing, 'POST')
    }
    if (path === '/v1/responses/compact') {
      return method === 'POST' ? this.#compact(incoming, outgoing, signal) : wrongMethod(outgoing, 'POST')
    }
    return { ...badRequest('there is nothing at this path'), status: 404, type: 'not_found' }
  }

  async #respond(
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    signal: AbortSignal,
  ): Promise<Refusal | null> {
    const received = await this.#receive(incoming, this.requests)
    if ('message' in received) return received
    const read = readRequest(received.body)
    if ('message' in read) return read
    const { request } = read
    const refusal = this.#options.refusesCalls ? checkCallsTaken(request) : null
    if (refusal !== null) return refusal
    const place = this.#conversations.place(request)
    if ('message' in place) return place
    const turn = await this.#options.turnOf(request, place.turn + 1)
    if (turn === null) {
      return badRequest(`the script has no turn ${place.turn + 1}`, { code: 'script_exhausted' })
    }
    const parsed = parseTurn(turn)
    const isStreamed = request.stream === true
    const built = this.#build(parsed, request)
    const pieces = bodyPieces(parsed, built, isStreamed)
    this.#remember(parsed, place, built, pieces)
    const { requestId } = received
    await sendTurn(outgoing, {
      turn: parsed,
      pieces,
      isStreamed,
      requestId,
      clock: this.#options.clock,
      signal,
    })
    return null
  }

  async #compact(
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    signal: AbortSignal,
  ): Promise<Refusal | null> {
    const received = await this.#receive(incoming, this.compactRequests)
    if ('message' in received) return received
    const read = readCompactRequest(received.body)
    if ('message' in read) return read
    const { request } = read
    const place = this.#conversations.place(request)
    if ('message' in place) return place
    this.#compactions += 1
    const { where, clock, compactionOf } = this.#options
    const compaction = compactionOf(this.#compactions)
    const body = compactResponse({
      ...this.#conversations.compact(place),
      request,
      compaction,
      place: where,
      number: this.#compactions,
      createdAt: Math.floor(clock.now() / 1000),
    })
    const pieces = wholePieces(compaction, body)
    const { requestId } = received
    await sendTurn(outgoing, { turn: compaction, pieces, isStreamed: false, requestId, clock, signal })
    return null
  }

  /** Takes the body of a request, and keeps it. */
  async #receive(incoming: IncomingMessage, kept: RecordedRequest[]): Promise<Received | Refusal> {
    this.#received += 1
    const requestId = `req_${this.#received}`
    const text = await readText(incoming)
    if (typeof text !== 'string') return text
    const body = parseJson(text)
    if (!isJsonObject(body)) return badRequest('We could not parse the JSON body of your request.')
    record(incoming, body, kept)
    return { body, requestId }
  }

  #build(turn: ScriptTurn, request: CreateResponseBody): BuiltResponse {
    this.#responses += 1
    const createdAt = Math.floor(this.#options.clock.now() / 1000)
    return responseEvents({ turn, request, responseId: `resp_${this.#responses}`, createdAt })
  }

  #remember(
    turn: ScriptTurn,
    place: Place,
    { response }: BuiltResponse,
    pieces: readonly Uint8Array[],
  ): void {
    const length = pieces.reduce((sum, piece) => sum + piece.length, 0)
    // A client that was told of a failure asks again, and means the turn after it.
    if (isWhole(turn, length) && response.status !== 'failed') this.#conversations.tell(place, response)
    else this.#conversations.fault(place)
    if (turn.forgets === true) this.#conversations.forget()
  }
}

interface Received {
  readonly body: JsonObject
  readonly requestId: string
}

function record({ headers }: IncomingMessage, body: JsonObject, kept: RecordedRequest[]): void {
  const texts = Object.entries(headers).map(([name, value]) => [name, String(value)] as const)
  kept.push({ headers: Object.fromEntries(texts), body })
  if (kept.length > REQUESTS_MAX) kept.shift()
}

function refuse(outgoing: ServerResponse, refusal: Refusal): void {
  // What was not read of the request would be taken for the next one.
  outgoing.writeHead(refusal.status, { 'content-type': 'application/json', connection: 'close' })
  outgoing.end(JSON.stringify(errorBody(refusal)))
}

function scriptRefusal(error: unknown): Refusal {
  const message = error instanceof Error ? error.message : 'the script threw something that is no error'
  const code = error instanceof LoopchartError ? error.code : 'script_failed'
  return { status: 500, type: 'server_error', code, message, param: null }
}

function wrongMethod(outgoing: ServerResponse, allowed: string): Refusal {
  outgoing.setHeader('allow', allowed)
  return { ...badRequest(`only ${allowed} is answered here`), status: 405 }
}

function listModels(outgoing: ServerResponse): null {
  const model = { id: SCRIPTED_MODEL, object: 'model', created: 0, owned_by: 'loopchart' }
  outgoing.writeHead(200, { 'content-type': 'application/json' })
  outgoing.end(JSON.stringify({ object: 'list', data: [model] }))
  return null
}
