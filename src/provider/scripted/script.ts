// What a scripted provider says, as data: the turns of a conversation, each with its output and with what goes wrong.
import type { JsonObject } from '../../protocol/json.ts'

/** The whole of a scripted provider's part, as it stands in a JSON file. `schemas/script/` has its JSON Schema. */
export interface Script {
  readonly v: 1
  /** For people. */
  readonly description?: string
  /** In the order in which each conversation gets them. */
  readonly turns: readonly ScriptTurn[]
  /** What `POST /responses/compact` does: one for all, or a list for the first ones; it works when left out. */
  readonly compact?: ScriptCompaction | readonly ScriptCompaction[]
  /** Refuses `function_call` items in a request that does not end with the output of one, as some gateways did. */
  readonly refuses_calls?: boolean
}

/** How one compaction goes. */
export type ScriptCompaction = Pick<ScriptTurn, 'usage' | 'delay_ms' | 'chunk_bytes' | 'fault'>

/** One response of the model, or what comes instead of it. */
export interface ScriptTurn {
  readonly output?: readonly ScriptItem[]
  /** An estimate from the number of characters when left out. */
  readonly usage?: ScriptUsage
  /** `completed` when left out. */
  readonly end?: ScriptEnd
  /** Waits before the head of the response. */
  readonly delay_ms?: number
  /** Waits before each event of a stream. */
  readonly event_delay_ms?: number
  /** Cuts the body into pieces of this size; otherwise it is sent event by event. */
  readonly chunk_bytes?: number
  readonly fault?: ScriptFault
  /** Afterwards no response is stored any more, this one included: none can be continued by its id. */
  readonly forgets?: boolean
}

export type ScriptItem =
  | {
      readonly type: 'message'
      /** A list gives the deltas one by one. */
      readonly text: string | readonly string[]
      readonly phase?: 'commentary' | 'final_answer'
    }
  | { readonly type: 'refusal'; readonly text: string | readonly string[] }
  | {
      readonly type: 'reasoning'
      readonly summary?: string | readonly string[]
      /** The raw text of the reasoning. */
      readonly content?: string | readonly string[]
      /** What only the provider can read; base64 by custom. */
      readonly encrypted?: string
    }
  | {
      readonly type: 'function_call'
      readonly name: string
      /** An object is sent as JSON, a text exactly as it is. */
      readonly arguments?: JsonObject | string
      /** One is made when left out. */
      readonly call_id?: string
    }

export interface ScriptUsage {
  readonly input_tokens: number
  readonly output_tokens: number
  readonly cached_tokens?: number
  readonly reasoning_tokens?: number
}

/** How a response ends that does not complete. */
export type ScriptEnd =
  | { readonly status: 'incomplete'; readonly reason?: string }
  | { readonly status: 'failed'; readonly code?: string; readonly message?: string }

/** What goes wrong. Bytes are those of the body and are counted from 0. */
export type ScriptFault =
  | {
      readonly type: 'status'
      readonly status: number
      readonly headers?: Readonly<Record<string, string>>
      /** An object is sent as JSON, a text as it is; an error in the usual shape when left out. */
      readonly body?: JsonObject | string
    }
  /** The connection is reset after so many bytes; at 0 before the head. */
  | { readonly type: 'reset'; readonly at_byte: number }
  /** Nothing more is sent after so many bytes; at 0 not even the head. */
  | { readonly type: 'stall'; readonly at_byte: number }
  /** The body ends, in order, after so many bytes. */
  | { readonly type: 'truncate'; readonly at_byte: number }
  /** Other bytes instead of the response. */
  | { readonly type: 'raw'; readonly text: string; readonly content_type?: string }
  | { readonly type: 'raw_base64'; readonly base64: string; readonly content_type?: string }
