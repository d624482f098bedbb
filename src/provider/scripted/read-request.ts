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

/** Holds a request to the protocol, with the two forms beside it that real providers take as well. */
export function readRequest(body: JsonObject): CreateResponseBody | Refusal {
  if (body['background'] === true) {
    return badRequest('background is not supported', { param: 'background', code: 'unsupported_parameter' })
  }
  try {
    return parseRequest(accepted(body))
  } catch (error) {
    if (!(error instanceof LoopchartError)) throw error
    return badRequest(error.message, { code: 'invalid_request' })
  }
}

// A message without its type, and reasoning with its raw text: the schema of the protocol has neither, and clients
// that send back what they got do both.
function accepted(body: JsonObject): JsonObject {
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
