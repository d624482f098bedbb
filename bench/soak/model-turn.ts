import type { CreateResponseBody } from '../../src/protocol/requests.ts'
import type { ScriptFault, ScriptItem, ScriptTurn } from '../../src/provider/scripted/script.ts'
import {
  answerTo,
  callIdOf,
  callNumberOf,
  CHAIN_LENGTH,
  childOf,
  findMark,
  markOf,
  NO_RESULT,
  type Directive,
} from './directive.ts'

/** What a request is about, and how far its message has come. */
export interface Asked {
  readonly directive: Directive
  /** How many calls have their outputs. */
  readonly done: number
  /** What the latest of them gave, in order. */
  readonly results: readonly string[]
}

/** Reads a request from its end: the newest message or the newest outputs are what it is about. Null: a summary. */
export function readAsked({ input, tools }: CreateResponseBody): Asked | null {
  // Whoever is asked for a summary has no tools; the agents of the soak all have some.
  if ((tools ?? []).length === 0 || !Array.isArray(input)) return null
  const results: string[] = []
  let newest: { readonly directive: Directive; readonly number: number } | null = null
  for (const item of input.toReversed()) {
    if (item.type === 'function_call_output') {
      const directive = findMark(item.call_id)
      if (directive === null || (newest !== null && newest.directive.id !== directive.id)) break
      newest ??= { directive, number: callNumberOf(item.call_id) }
      results.unshift(resultOf(item.output))
    } else if (newest !== null) {
      break
    } else if (item.type === 'message' && item.role === 'user') {
      const directive = findMark(JSON.stringify(item.content))
      if (directive !== null) return { directive, done: 0, results: [] }
    }
  }
  return newest === null ? null : { directive: newest.directive, done: newest.number + 1, results }
}

function resultOf(output: unknown): string {
  const { ok, stdout } = JSON.parse(String(output)) as { ok?: unknown; stdout?: unknown }
  return ok === true ? String(stdout) : NO_RESULT
}

/** What the model answers to a summary's question. */
export const SUMMARY: ScriptTurn = {
  output: [{ type: 'message', text: 'They did sums, and some went wrong.' }],
}

/** What the model does about a message, the attempts at the same request counted from 1. */
export function modelTurn(asked: Asked, attempt: number): ScriptTurn {
  const { directive, done, results } = asked
  const calls = callsOf(asked)
  const text = answerTo(directive, results)
  const output = calls.length > 0 ? calls : [{ type: 'message', text: piecesOf(text) } as const]
  const turn: ScriptTurn = { output, delay_ms: (directive.a * 7) % 60 }
  if (done > 0) return turn
  const fault = faultOf(directive, attempt)
  if (fault !== null) return { ...turn, fault }
  // Whoever speaks needs the answer to be on its way, and no more of it than there is.
  if (directive.kind === 'steer') return { ...turn, event_delay_ms: 60 }
  return isHeld(directive, attempt) ? { ...held(turn, text), event_delay_ms: 100 } : turn
}

// More words than anybody waits for: whoever acts in the middle of the answer never comes too late.
const HELD_PIECES = 200

function held(turn: ScriptTurn, text: string): ScriptTurn {
  const pieces = piecesOf(text)
  const filler = Array.from({ length: HELD_PIECES }, () => ' more')
  return { ...turn, output: [{ type: 'message', text: [...pieces, ...filler] }] }
}

// A few words a piece, as models send them.
function piecesOf(text: string): readonly string[] {
  return text.match(/.{1,24}/gsu) ?? []
}

function isHeld({ kind }: Directive, attempt: number): boolean {
  if (kind === 'close-stream') return attempt === 1
  return kind === 'cancel-stream' || kind === 'abort' || kind === 'abandon'
}

function callsOf({ directive, done, results }: Asked): readonly ScriptItem[] {
  const { kind, a, b } = directive
  const call = (name: string, args: Record<string, number | string>, number = done): ScriptItem => ({
    type: 'function_call',
    name,
    arguments: args,
    call_id: callIdOf(directive, number),
  })
  if (kind === 'chain' && done < CHAIN_LENGTH) return [call('add', { a: Number(results.at(-1) ?? a), b })]
  if (done > 0) return []
  switch (kind) {
    case 'tool':
      return [call('add', { a, b })]
    case 'parallel':
      return [call('add', { a, b }, 0), call('wait', { ms: 40 }, 1), call('add', { a: b, b }, 2)]
    case 'throws':
      return [call('fail', { a })]
    case 'timeout':
      return [call('stick', { a })]
    case 'late':
      // So much beyond its deadline that no machine is busy enough to see both at once.
      return [call('linger', { ms: 3_000 })]
    case 'approve':
    case 'deny':
    case 'close-approval':
      return [call('pay', { amount: a })]
    case 'subagent':
      return [call('ask', { input: markOf(childOf(directive)) })]
    case 'cancel-tool':
      return [call('wait', { ms: 20_000 })]
    case 'close-tool':
      return [call('wait', { ms: 500 })]
    default:
      return []
  }
}

function faultOf({ kind, a, b }: Directive, attempt: number): ScriptFault | null {
  // Within the answer or before its first word.
  const at_byte = ((a * 131 + b * 37) % 20) * 100
  // After the head: how long that may take is another limit, and a long one.
  const silence = { type: 'stall', at_byte: at_byte + 1 } as const
  const isFirst = attempt === 1
  switch (kind) {
    case 'limited':
      return isFirst ? { type: 'status', status: 429, headers: { 'retry-after': '1' } } : null
    case 'cancel-wait':
      return { type: 'status', status: 429, headers: { 'retry-after': '60' } }
    case 'broken':
      return isFirst ? { type: 'status', status: b % 2 === 0 ? 500 : 503 } : null
    case 'down':
      return { type: 'status', status: 500 }
    case 'cut':
      return isFirst ? { type: 'truncate', at_byte } : null
    case 'torn':
      return { type: 'truncate', at_byte }
    case 'reset':
      return isFirst ? { type: 'reset', at_byte } : null
    case 'stall':
      return isFirst ? silence : null
    case 'silent':
      return silence
    default:
      return null
  }
}
