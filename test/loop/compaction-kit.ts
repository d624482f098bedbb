import { Buffer } from 'node:buffer'

import type { CompactEndpoint, ModelRequest, SendFault } from '../../src/loop/model.ts'
import { isJsonObject, parseJson, type JsonObject } from '../../src/protocol/json.ts'
import { callsAnswer, textAnswer, watchedTool } from '../scripted-model.ts'

/** Long enough that a summary of it is shorter. */
export const LONG = `{"a":1,"b":2,"note":"${'a long story '.repeat(60)}"}`

/** Two turns with much to say, of which the first is old when the third is asked for. */
export const TURNS = [
  callsAnswer(1, [['add', LONG]]),
  callsAnswer(2, [['add', LONG]]),
  textAnswer(3, 'three'),
]

// Every scripted response uses 154: what is made shorter is so after the second one.
export const RULES = { atItems: 5, keepTokens: 100 }

export const COMPACTION = { type: 'compaction', id: 'cmp_1', encrypted_content: 'b3BhcXVl' }

/** What a provider gives for a conversation: the messages of the user, and something that only it can read. */
export function compactEndpoint(
  answer: (body: JsonObject) => string | SendFault,
): CompactEndpoint & { readonly bodies: JsonObject[] } {
  const bodies: JsonObject[] = []
  return {
    bodies,
    endpoint: 'scripted:/compact',
    send: (request: ModelRequest) => {
      const body = parseJson(request.body)
      if (!isJsonObject(body)) throw new Error('the body is not an object')
      bodies.push(body)
      const said = answer(body)
      if (typeof said !== 'string') return Promise.resolve(said)
      request.onHead({ status: 200, requestId: 'req_c', contentType: 'application/json' })
      request.onChunk(Buffer.from(said))
      return Promise.resolve(null)
    },
  }
}

/** The whole answer. */
export function resourceOf({ input }: JsonObject): string {
  const items = Array.isArray(input) ? input.filter(isJsonObject) : []
  const output = [...items.filter(({ role }) => role === 'user'), COMPACTION]
  const usage = { input_tokens: 40, output_tokens: 2, total_tokens: 42 }
  return JSON.stringify({ id: 'cmp_resp', object: 'response.compaction', created_at: 0, output, usage })
}

/** A tool that adds. */
export function addLike(): ReturnType<typeof watchedTool>['tool'] {
  return watchedTool('add', () => 5).tool
}
