import type { Clock } from '../clock.ts'
import type { CompactEndpoint } from '../loop/model.ts'
import { isJsonObject, parseJson, type JsonObject } from '../protocol/json.ts'
import { compactResponse } from '../provider/scripted/compact-response.ts'
import { compactionsFrom } from '../provider/scripted/compactions-from.ts'
import { Conversations } from '../provider/scripted/conversations.ts'
import { parseCompactions } from '../provider/scripted/parse-script.ts'
import { readCompactRequest } from '../provider/scripted/read-compact-request.ts'
import { badRequest } from '../provider/scripted/refusal.ts'
import type { ScriptCompaction } from '../provider/scripted/script.ts'
import { refuseInProcess, sendWholeInProcess } from './send-in-process.ts'

export interface CompactPlace {
  readonly endpoint: string
  readonly clock: Clock
  /** Gets the bodies that are sent. */
  readonly requests: JsonObject[]
}

/** The compaction of a scripted model. It takes conversations that are sent whole. Throws `script_invalid`. */
export function scriptedCompact(
  compact: ScriptCompaction | readonly ScriptCompaction[],
  { endpoint, clock, requests }: CompactPlace,
): CompactEndpoint {
  const compactionOf = compactionsFrom(parseCompactions(compact))
  // Nothing is stored here: a chain cannot be compacted by its id.
  const conversations = new Conversations(endpoint)
  let number = 0
  return {
    endpoint: `${endpoint}/compact`,
    send: async (request) => {
      const body = parseJson(request.body)
      await Promise.resolve()
      if (!isJsonObject(body)) return refuseInProcess(badRequest('that is no JSON object'), clock)
      requests.push(body)
      const read = readCompactRequest(body)
      if ('message' in read) return refuseInProcess(read, clock)
      const place = conversations.place(read.request)
      if ('message' in place) return refuseInProcess(place, clock)
      number += 1
      const compaction = compactionOf(number)
      const made = compactResponse({
        ...conversations.compact(place),
        ...read,
        compaction,
        place: endpoint,
        number,
        createdAt: Math.floor(clock.now() / 1000),
      })
      const requestId = `req_cmp_${number}`
      return sendWholeInProcess(request, { compaction, body: made, requestId, clock })
    },
  }
}
