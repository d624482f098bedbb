import type { IncomingMessage, ServerResponse } from 'node:http'

import type { Clock } from '../../clock.ts'
import { LoopchartError } from '../../errors.ts'
import { isJsonObject, parseJson, type JsonObject } from '../../protocol/json.ts'
import type { CreateResponseBody } from '../../protocol/requests.ts'
import { Conversations, type Place } from './conversations.ts'
import { SCRIPTED_MODEL } from './open-response.ts'
import { parseTurn } from './parse-script.ts'
import { readRequest, readText } from './read-request.ts'
import { badRequest, errorBody, type Refusal } from './refusal.ts'
import { responseEvents, type BuiltResponse } from './response-events.ts'
import type { ScriptTurn } from './script.ts'
import { bodyPieces, isWhole, sendTurn } from './send-turn.ts'

/** A POST to /v1/responses, as it came. */
export interface RecordedRequest {
  readonly headers: Readonly<Record<string, string>>
  readonly body: JsonObject
}

/** Says what a turn is; null when there is none. */
type TurnOf = (request: CreateResponseBody, turn: number) => ScriptTurn | null | PromiseLike<ScriptTurn>

const REQUESTS_MAX = 10_000

/** The routes of a scripted provider. Nothing that a client sends makes it fail. */
export class Endpoint {
  readonly requests: RecordedRequest[] = []
  readonly #turnOf: TurnOf
  readonly #clock: Clock
  readonly #conversations = new Conversations()
  #responses = 0
  #received = 0

  constructor(turnOf: TurnOf, clock: Clock) {
    this.#turnOf = turnOf
    this.#clock = clock
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
    return { ...badRequest('there is nothing at this path'), status: 404, type: 'not_found' }
  }

  async #respond(
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    signal: AbortSignal,
  ): Promise<Refusal | null> {
    this.#received += 1
    const requestId = `req_${this.#received}`
    const text = await readText(incoming)
    if (typeof text !== 'string') return text
    const body = parseJson(text)
    if (!isJsonObject(body)) return badRequest('We could not parse the JSON body of your request.')
    this.#record(incoming, body)
    const request = readRequest(body)
    if ('message' in request) return request
    const place = this.#conversations.place(request)
    if ('message' in place) return place
    const turn = await this.#turnOf(request, place.turn + 1)
    if (turn === null) {
      return badRequest(`the script has no turn ${place.turn + 1}`, { code: 'script_exhausted' })
    }
    const parsed = parseTurn(turn)
    const isStreamed = request.stream === true
    const built = this.#build(parsed, request)
    const pieces = bodyPieces(parsed, built, isStreamed)
    this.#remember(parsed, place, built, pieces)
    await sendTurn(outgoing, { turn: parsed, pieces, isStreamed, requestId, clock: this.#clock, signal })
    return null
  }

  #build(turn: ScriptTurn, request: CreateResponseBody): BuiltResponse {
    this.#responses += 1
    const createdAt = Math.floor(this.#clock.now() / 1000)
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
  }

  #record({ headers }: IncomingMessage, body: JsonObject): void {
    const texts = Object.entries(headers).map(([name, value]) => [name, String(value)] as const)
    this.requests.push({ headers: Object.fromEntries(texts), body })
    if (this.requests.length > REQUESTS_MAX) this.requests.shift()
  }
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
