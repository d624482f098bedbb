import type { IncomingMessage } from 'node:http'
import { Buffer } from 'node:buffer'

import { LoopchartError } from '../../errors.ts'
import { isJsonObject, type Json, type JsonObject } from '../../protocol/json.ts'
import { parseRequest } from '../../protocol/parse-request.ts'
import type { CreateResponseBody } from '../../protocol/requests.ts'
import { badRequest, type Refusal } from './refusal.ts'

const BODY_BYTES_MAX = 16 * 1024 * 1024

/** Reads the whole text of a request, up to 16 MiB. Rejects when the connection breaks. */
export function readText(incoming: IncomingMessage): Promise<string | Refusal> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let length = 0
    incoming.on('data', (chunk: Buffer) => {
      length += chunk.length
      if (length <= BODY_BYTES_MAX) chunks.push(chunk)
      else resolve({ ...badRequest(`the body is larger than ${BODY_BYTES_MAX} bytes`), status: 413 })
    })
    incoming.once('end', () => resolve(Buffer.concat(chunks).toString('utf8')))
    incoming.once('error', reject)
    incoming.once('close', () => reject(new Error('the request broke off')))
  })
}

/** A request that may be answered; what a client sends has any names it likes, so it is not beside a refusal's. */
export interface Accepted<Request> {
  readonly request: Request
}

/** Holds a request to the protocol, with the two forms beside it that real providers take as well. */
export function readRequest(body: JsonObject): Accepted<CreateResponseBody> | Refusal {
  if (body['background'] === true) {
    return badRequest('background is not supported', { param: 'background', code: 'unsupported_parameter' })
  }
  try {
    return { request: parseRequest(acceptedBody(body)) }
  } catch (error) {
    if (!(error instanceof LoopchartError)) throw error
    return badRequest(error.message, { code: 'invalid_request' })
  }
}

/**
 * A body with what the protocol takes in the place of two forms that it does not: a message without its type, and
 * reasoning with its raw text. Clients that send back what they got do both.
 */
export function acceptedBody(body: JsonObject): JsonObject {
  const { input } = body
  if (!Array.isArray(input)) return body
  return { ...body, input: input.map((item: Json) => (isJsonObject(item) ? acceptedItem(item) : item)) }
}

function acceptedItem(item: JsonObject): JsonObject {
  if (item['type'] === undefined && item['role'] !== undefined) return { ...item, type: 'message' }
  if (item['type'] !== 'reasoning') return item
  const { content: _, ...rest } = item
  return rest
}
