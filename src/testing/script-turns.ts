import type { JsonObject } from '../protocol/json.ts'
import type { ScriptItem, ScriptTurn } from '../provider/scripted/script.ts'

/** What a model may be scripted to answer: a whole turn, its items, or its one item. */
export type TurnLike = ScriptTurn | ScriptItem | readonly ScriptItem[]

/** Words of the model. A list gives the deltas one by one. */
export function assistantMessage(text: string | readonly string[]): ScriptItem {
  return { type: 'message', text }
}

/** A call that the model makes. Arguments that are a text are sent exactly as they are. */
export function functionCall(name: string, args: JsonObject | string = {}, callId?: string): ScriptItem {
  return {
    type: 'function_call',
    name,
    arguments: args,
    ...(callId === undefined ? {} : { call_id: callId }),
  }
}

export interface ModelErrorOptions {
  readonly code?: string
  readonly message?: string
  /** The field of the request that it is about. */
  readonly param?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** An HTTP status instead of a response; `retry-after` and the like go into `headers`. */
export function modelError(status: number, options: ModelErrorOptions = {}): ScriptTurn {
  const { code = null, param = null, headers = {} } = options
  const { message = `the script answers with status ${status}` } = options
  const type = status >= 500 ? 'server_error' : 'invalid_request_error'
  return { fault: { type: 'status', status, headers, body: { error: { message, type, param, code } } } }
}

/** What a script says in one of its short forms, written out. */
export function turnFrom(turn: TurnLike): ScriptTurn {
  if (isItems(turn)) return { output: turn }
  return 'type' in turn ? { output: [turn] } : turn
}

function isItems(turn: TurnLike): turn is readonly ScriptItem[] {
  return Array.isArray(turn)
}
