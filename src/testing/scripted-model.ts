import { systemClock, type Clock } from '../clock.ts'
import { LoopchartError } from '../errors.ts'
import type { Model, SendFault } from '../loop/model.ts'
import { isJsonObject, parseJson, type JsonObject } from '../protocol/json.ts'
import { parseRequest } from '../protocol/parse-request.ts'
import type { CreateResponseBody } from '../protocol/requests.ts'
import { parseTurn } from '../provider/scripted/parse-script.ts'
import type { ScriptTurn } from '../provider/scripted/script.ts'
import { turnFrom, type TurnLike } from './script-turns.ts'
import { sendInProcess } from './send-in-process.ts'

/** A turn, or a question about the request that it answers; `turn` counts from 1. */
export type ScriptedTurn =
  | TurnLike
  | ((request: CreateResponseBody, turn: number) => TurnLike | PromiseLike<TurnLike>)

export interface ScriptedModelOptions {
  readonly name?: string
  readonly canContinueById?: boolean | null
  /** What waits and retry times go by: give the one of the agent. */
  readonly clock?: Clock
}

/** A model in this process that says what it was told to say. */
export interface ScriptedModel extends Model {
  /** The bodies that were sent, parsed. */
  readonly requests: readonly JsonObject[]
  /** Throws `script_unfinished` unless every turn was asked for. */
  assertComplete(): void
}

/**
 * A model that answers each request with the next turn, as the bytes that a provider would send, through the real
 * decoder. A request after the last turn fails, for good. Throws `script_invalid` for a turn that is none.
 */
export function scriptedModel(
  turns: readonly ScriptedTurn[],
  { name = 'scripted-1', canContinueById = true, clock = systemClock }: ScriptedModelOptions = {},
): ScriptedModel {
  const queue = turns.map((turn) => (typeof turn === 'function' ? turn : parseTurn(turnFrom(turn))))
  const requests: JsonObject[] = []
  return {
    name,
    endpoint: 'scripted:',
    isStreamed: true,
    canContinueById,
    requests,
    send: async (request) => {
      const body = parseJson(request.body)
      if (isJsonObject(body)) requests.push(body)
      const at = requests.length
      const next = queue.shift()
      if (next === undefined) return EXHAUSTED
      const parsed = parseRequest(body)
      const turn = typeof next === 'function' ? await askedTurn(() => next(parsed, at)) : next
      await Promise.resolve()
      if ('code' in turn) return turn
      return sendInProcess(request, { turn, request: parsed, responseId: `resp_${at}`, clock })
    },
    assertComplete: () => {
      if (queue.length === 0) return
      throw new LoopchartError(
        'script_unfinished',
        `${queue.length} of ${turns.length} scripted turns were not asked for`,
      )
    },
  }
}

/** What a function says, or a fault with what it threw: an assertion in it must not pass for a bug of the loop. */
async function askedTurn(ask: () => TurnLike | PromiseLike<TurnLike>): Promise<ScriptTurn | SendFault> {
  try {
    return parseTurn(turnFrom(await ask()))
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    return { ...EXHAUSTED, code: 'script_invalid', message: `the function of a turn threw: ${message}` }
  }
}

const EXHAUSTED: SendFault = {
  code: 'script_exhausted',
  message: 'the script has no further turn',
  provider: null,
  isRetryable: false,
  retryAt: null,
}
