import type { AnyItem } from '../protocol/items.ts'
import type { JsonObject } from '../protocol/json.ts'
import type { NoteAnomaly } from './anomaly.ts'
import { hasTextArguments, isCutShort } from './call-item.ts'
import type { TerminalMatch } from './match-terminal.ts'
import { readText, type OpenItem } from './open-item.ts'
import type { JsonComparer } from './same-json.ts'
import type { StreamError } from './stream-error.ts'

/** One `function_call` item, with what may be done about it. */
export interface AssembledCall {
  /** Position among the calls of the response, in output order. */
  readonly slot: number
  readonly outputIndex: number
  readonly itemId: string | null
  readonly callId: string
  readonly name: string
  readonly arguments: string
  /**
   * `ready` may run. The others may not: sources disagree on the arguments, an earlier call has the same id, or
   * the item or its response did not complete.
   */
  readonly disposition: 'ready' | 'bad_arguments' | 'duplicate' | 'truncated'
}

/** A response as its events, or its one body, told it. */
export interface AssembledResponse {
  readonly responseId: string | null
  readonly status: 'completed' | 'incomplete' | 'failed'
  readonly incompleteReason: string | null
  /** In output order, as the provider sent them. */
  readonly items: readonly AnyItem[]
  readonly calls: readonly AssembledCall[]
  readonly usage: JsonObject | null
  /** Why it failed; null unless `status` is `failed`. */
  readonly error: StreamError | null
}

export interface AssembledOutput {
  readonly items: readonly AnyItem[]
  readonly calls: readonly AssembledCall[]
}

interface Place {
  readonly outputIndex: number
  readonly streamed: OpenItem | null
  readonly terminal: AnyItem | null
}

/** Puts the output together: streamed items first, what only the terminal response has in its place between. */
export function assembleOutput(
  streamed: readonly OpenItem[],
  match: TerminalMatch,
  status: AssembledResponse['status'],
  comparer: JsonComparer,
  note: NoteAnomaly,
): AssembledOutput {
  const places: Place[] = streamed.map((item, at) => ({
    outputIndex: item.outputIndex,
    streamed: item,
    terminal: match.terminals[at] ?? null,
  }))
  for (const { item, outputIndex } of match.recovered) {
    places.push({ outputIndex, streamed: null, terminal: item })
  }
  // Stable: items that share an index stay in order of arrival.
  if (places.length > 1) places.sort((a, b) => a.outputIndex - b.outputIndex)

  const calls: AssembledCall[] = []
  // Most responses have one call, and need no table of them.
  const callIds = places.length > 1 ? new Set<string>() : null
  const items = places.map((place) => {
    const item = itemAt(place, status)
    if (item.type !== 'function_call') return item
    const call = callAt(place, item, calls.length, comparer, note)
    const disposition = dispose(call, place, status, callIds?.has(call.callId) === true)
    calls.push(disposition === call.disposition ? call : { ...call, disposition })
    callIds?.add(call.callId)
    return completeCall(item, call)
  })
  return { items, calls }
}

function itemAt({ streamed, terminal }: Place, status: AssembledResponse['status']): AnyItem {
  const whole = streamed?.done ?? terminal
  if (whole !== null) return streamed?.complete(whole) ?? whole
  const ending = status === 'completed' ? 'completed' : 'incomplete'
  return streamed?.assemble(ending) ?? { type: 'message' }
}

function callAt(
  place: Place,
  item: AnyItem,
  slot: number,
  comparer: JsonComparer,
  note: NoteAnomaly,
): AssembledCall {
  const { outputIndex, streamed, terminal } = place
  const told = streamed?.streamedArguments() ?? ''
  const confirmed = readText(terminal, 'arguments')
  // An empty text in the terminal response is a gateway that leaves arguments out, not a second opinion.
  const isConfirmed = told === '' || confirmed === null || comparer.isSame(told, confirmed)
  if (!isConfirmed) note('arguments_differ', `stream and terminal response at output_index ${outputIndex}`)
  const isText =
    streamed?.hasOddArguments !== true &&
    hasTextArguments(streamed?.added ?? null) &&
    hasTextArguments(streamed?.done ?? null) &&
    hasTextArguments(terminal)
  if (!isText) note('arguments_not_text', `function_call at output_index ${outputIndex}`)
  const isRival =
    streamed?.hasRivalArguments === true || (streamed?.hasRivalArgumentsDone === true && confirmed === null)
  return {
    slot,
    outputIndex,
    itemId: streamed?.itemId ?? readText(item, 'id'),
    callId: streamed?.callId ?? readText(terminal, 'call_id') ?? '',
    name: streamed?.name ?? readText(terminal, 'name') ?? '',
    arguments: told === '' ? (confirmed ?? '') : told,
    disposition: isConfirmed && isText && !isRival ? 'ready' : 'bad_arguments',
  }
}

/** The item with what only other events said about the call; unchanged when it says all of it itself. */
function completeCall(item: AnyItem, { callId, name, arguments: args }: AssembledCall): AnyItem {
  if (says(item, 'call_id', callId) && says(item, 'name', name) && says(item, 'arguments', args)) return item
  const known = Object.entries({ call_id: callId, name, arguments: args })
  return { ...item, ...Object.fromEntries(known.filter(([key, value]) => !says(item, key, value))) }
}

function says(item: AnyItem, key: string, value: string): boolean {
  return value === '' || item[key] === value
}

function dispose(
  call: AssembledCall,
  { streamed, terminal }: Place,
  status: AssembledResponse['status'],
  isKnown: boolean,
): AssembledCall['disposition'] {
  const whole = streamed?.done ?? streamed?.added ?? null
  if (status !== 'completed' || isCutShort(whole) || isCutShort(terminal)) return 'truncated'
  return isKnown ? 'duplicate' : call.disposition
}
