import { Buffer } from 'node:buffer'

import type { Model, ModelRequest, SendFault } from '../loop/model.ts'
import { parseJson } from '../protocol/json.ts'
import { parseRequest } from '../protocol/parse-request.ts'
import { responseEvents } from '../provider/scripted/response-events.ts'
import { SSE_DONE, sseText } from '../provider/scripted/sse-text.ts'
import { turnFor, type LoopResponse } from './response-for.ts'

/** How a request is to end: with a response, or with the error that the chart is to see. */
export type Answer = { readonly response: LoopResponse } | { readonly error: PathError }

interface PathError {
  readonly code: string
  readonly message: string
  readonly retryAt: number | null
  readonly isContinuity: boolean
}

interface Pending {
  readonly request: ModelRequest
  readonly settle: (fault: SendFault | null) => void
}

/** A model that a path leads by the hand: it opens its response and ends it when it is told to. */
export class PathModel {
  #pending: Pending | null = null
  #rest: readonly string[] = []
  #responses = 0
  readonly #answer: string

  constructor(answer: string) {
    this.#answer = answer
  }

  /** The model for an agent: it answers in place of the agent's own. */
  standIn({ name, canContinueById }: Model): Model {
    return {
      name,
      endpoint: 'path:',
      isStreamed: true,
      canContinueById,
      send: (request) =>
        new Promise((settle) => {
          this.#rest = []
          this.#responses += 1
          this.#pending = { request, settle }
        }),
    }
  }

  /** Sends the first event of the response that the answer will have. */
  async open(answer: Answer): Promise<void> {
    const { request } = await this.#request()
    const turn = 'response' in answer ? turnFor(answer.response, this.#answer) : {}
    const { events } = responseEvents({
      turn,
      request: parseRequest(parseJson(request.body)),
      responseId: `resp_${this.#responses}`,
      createdAt: 0,
    })
    const texts = [...events.map(sseText), SSE_DONE]
    this.#rest = texts.slice(1)
    request.onHead({ status: 200, requestId: null, contentType: 'text/event-stream' })
    request.onChunk(Buffer.from(texts[0] ?? ''))
  }

  /** Sends the rest, or breaks off. */
  async finish(answer: Answer): Promise<void> {
    const { request, settle } = await this.#request()
    this.#pending = null
    if ('error' in answer) return settle(faultOf(answer.error))
    request.onChunk(Buffer.from(this.#rest.join('')))
    settle(null)
  }

  /** The request that is out; it is made some promises after its effect was launched. */
  async #request(): Promise<Pending> {
    for (let turn = 0; turn < PROMISES_MAX; turn += 1) {
      // One that was let go of is not the one that is meant.
      if (this.#pending !== null && !this.#pending.request.signal.aborted) return this.#pending
      await Promise.resolve()
    }
    throw new Error('the loop wants a response and has not sent a request')
  }
}

const PROMISES_MAX = 1000

function faultOf({ code, message, retryAt, isContinuity }: PathError): SendFault {
  const provider = { type: null, code, message, param: null, status: 400, headers: null }
  return {
    code,
    message,
    provider: isContinuity ? provider : null,
    isRetryable: retryAt !== null,
    retryAt: null,
  }
}
