import { systemClock, type Clock } from '../clock.ts'
import { LoopchartError } from '../errors.ts'
import type { CompactEndpoint, Model, ModelRequest, SendFault } from '../loop/model.ts'
import { isJsonObject, parseJson, type JsonObject } from '../protocol/json.ts'
import { parseRequest } from '../protocol/parse-request.ts'
import type { CreateResponseBody } from '../protocol/requests.ts'
import { checkCallsTaken } from '../provider/scripted/check-calls-taken.ts'
import { checkCompactions } from '../provider/scripted/compaction-seal.ts'
import { parseTurn } from '../provider/scripted/parse-script.ts'
import { responseNotFound, type Refusal } from '../provider/scripted/refusal.ts'
import type { ScriptCompaction, ScriptTurn } from '../provider/scripted/script.ts'
import { turnFrom, type TurnLike } from './script-turns.ts'
import { scriptedCompact } from './scripted-compact.ts'
import { refuseInProcess, sendInProcess } from './send-in-process.ts'

/** A turn, or a question about the request that it answers; `turn` counts from 1. */
export type ScriptedTurn =
  | TurnLike
  | ((request: CreateResponseBody, turn: number) => TurnLike | PromiseLike<TurnLike>)

export interface ScriptedModelOptions {
  readonly name?: string
  /** Where it pretends to be; compactions are read only there. `scripted:` when left out. */
  readonly endpoint?: string
  readonly canContinueById?: boolean | null
  readonly nativeToolHistory?: boolean
  readonly contextWindow?: number
  /** Whether it has a compaction of its own; or how that goes, for all or as a list for the first ones. */
  readonly compact?: boolean | ScriptCompaction | readonly ScriptCompaction[]
  /** Whether it refuses the calls of earlier runs as `function_call` items. */
  readonly refusesCalls?: boolean
  /** What waits and retry times go by: give the one of the agent. */
  readonly clock?: Clock
}

/** A model in this process that says what it was told to say. */
export interface ScriptedModel extends Model {
  /** The bodies that were sent, parsed. */
  readonly requests: readonly JsonObject[]
  /** The bodies that were sent to be compacted, parsed. */
  readonly compactRequests: readonly JsonObject[]
  /** From now on a request that continues a response from before is refused, and uses up no turn. */
  forget(): void
  /** Throws `script_unfinished` unless every turn was asked for. */
  assertComplete(): void
}

/**
 * A model that answers each request with the next turn, as the bytes that a provider would send, through the real
 * decoder. A request after the last turn fails, for good. Throws `script_invalid` for a turn that is none.
 */
export function scriptedModel(
  turns: readonly ScriptedTurn[],
  options: ScriptedModelOptions = {},
): ScriptedModel {
  const { name = 'scripted-1', endpoint = 'scripted:', canContinueById = true, clock = systemClock } = options
  const queue = turns.map((turn) => (typeof turn === 'function' ? turn : parseTurn(turnFrom(turn))))
  const requests: JsonObject[] = []
  const compactRequests: JsonObject[] = []
  const memory = new Memory()
  const answer = async (request: ModelRequest): Promise<SendFault | null> => {
    const body = parseJson(request.body)
    if (isJsonObject(body)) requests.push(body)
    const at = requests.length
    const parsed = parseRequest(body)
    const refusal = memory.refusalOf(parsed) ?? refusalOf(parsed, endpoint, options)
    if (refusal !== null) return refuseInProcess(refusal, clock)
    const next = queue.shift()
    if (next === undefined) return EXHAUSTED
    const turn = typeof next === 'function' ? await askedTurn(() => next(parsed, at)) : next
    await Promise.resolve()
    if ('code' in turn) return turn
    const responseId = `resp_${at}`
    memory.tell(responseId, turn)
    return sendInProcess(request, { turn, request: parsed, responseId, clock })
  }
  return {
    name,
    endpoint,
    isStreamed: true,
    canContinueById,
    nativeToolHistory: options.nativeToolHistory ?? false,
    contextWindow: options.contextWindow ?? null,
    compact: compactOf(options, { endpoint, clock, requests: compactRequests }),
    requests,
    compactRequests,
    send: answer,
    forget: () => memory.forget(),
    assertComplete: () => {
      if (queue.length === 0) return
      throw new LoopchartError(
        'script_unfinished',
        `${queue.length} of ${turns.length} scripted turns were not asked for`,
      )
    },
  }
}

/** Which responses can be continued. Until something is forgotten, also those that another model gave. */
class Memory {
  #known: Set<string> | null = null

  refusalOf({ previous_response_id: id }: CreateResponseBody): Refusal | null {
    return id == null || this.#known === null || this.#known.has(id) ? null : responseNotFound(id)
  }

  tell(responseId: string, { forgets }: ScriptTurn): void {
    this.#known?.add(responseId)
    if (forgets === true) this.forget()
  }

  forget(): void {
    this.#known = new Set()
  }
}

function refusalOf(
  request: CreateResponseBody,
  endpoint: string,
  { refusesCalls = false }: ScriptedModelOptions,
): Refusal | null {
  return (refusesCalls ? checkCallsTaken(request) : null) ?? checkCompactions(endpoint, request)
}

function compactOf(
  { compact = false }: ScriptedModelOptions,
  place: { readonly endpoint: string; readonly clock: Clock; readonly requests: JsonObject[] },
): CompactEndpoint | null {
  if (compact === false) return null
  return scriptedCompact(compact === true ? {} : compact, place)
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
