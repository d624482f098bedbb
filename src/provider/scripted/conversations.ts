import { hash } from 'node:crypto'

import type { UserMessageItemParam } from '../../protocol/generated/openresponses.ts'
import type { InputItem, OutputItem } from '../../protocol/items.ts'
import type { CreateResponseBody } from '../../protocol/requests.ts'
import type { ResponseResource } from '../../protocol/responses.ts'
import { checkPairing, type Origin, type PairedItem } from './check-pairing.ts'
import { checkCompactions, openCompaction, type Compacted } from './compaction-seal.ts'
import { badRequest, responseNotFound, type Refusal } from './refusal.ts'

/** Where a request stands in its conversation. */
export interface Place {
  /** The turn that answers it, from 0: those before it in the conversation, and its own attempts that a fault ended. */
  readonly turn: number
  /** Those before it in the conversation alone. */
  readonly turnsBefore: number
  readonly key: string
  readonly parent: Told | null
  readonly input: readonly PairedItem[]
  readonly userMessages: readonly UserMessageItemParam[]
}

/** What a request says about its conversation. */
type Asked = Pick<CreateResponseBody, 'input' | 'previous_response_id'>

/** A response that was given, with what was said before it. */
interface Told {
  readonly items: readonly PairedItem[]
  readonly userMessages: readonly UserMessageItemParam[]
  readonly parent: Told | null
  readonly nextTurn: number
  readonly isStored: boolean
}

/** An item that came from here, with its response. */
interface Known {
  readonly item: PairedItem
  readonly told: Told
  /** Its response is not stored any more: it can be sent, and not be named. */
  readonly isForgotten: boolean
}

const TOLD_MAX = 10_000

/**
 * What a scripted provider remembers. A conversation is known by `previous_response_id`, or, when the whole of it is
 * sent, by the ids of the items and calls that came from here, by the words of an answer, or by a compaction of it;
 * anything else begins a new one. Going back to an older response gives the turns after that one again.
 */
export class Conversations {
  readonly #where: string
  readonly #byResponse = new Map<string, Told>()
  readonly #byItem = new Map<string, Known>()
  readonly #byCall = new Map<string, Told>()
  readonly #byText = new Map<string, Told>()
  readonly #faults = new Map<string, number>()

  /** Compactions are read where they were made: `where` names that place. */
  constructor(where: string) {
    this.#where = where
  }

  /** Finds the place of a request, or says why it has none. */
  place(request: Asked): Place | Refusal {
    const { previous_response_id: previousId } = request
    const input = inputOf(request)
    const parent = previousId == null ? null : (this.#byResponse.get(previousId) ?? null)
    if (previousId != null && parent?.isStored !== true) return responseNotFound(previousId)
    const unreadable = checkCompactions(this.#where, request)
    if (unreadable !== null) return unreadable
    const resolved: PairedItem[] = []
    for (const item of input) {
      const found = this.#resolve(item)
      if (found === null) {
        return badRequest(`Item with id '${item.id?.slice(0, 100)}' not found.`, { param: 'input' })
      }
      resolved.push(...found)
    }
    const fault = checkPairing(itemsOf(parent), resolved)
    if (fault !== null) return badRequest(fault, { param: 'input' })
    const turnsBefore = parent?.nextTurn ?? this.#turnsIn(input)
    const key = hash('sha256', JSON.stringify([previousId ?? null, request.input ?? null]), 'base64url')
    const turn = turnsBefore + (this.#faults.get(key) ?? 0)
    return { turn, turnsBefore, key, parent, input: resolved, userMessages: userMessagesOf(request) }
  }

  /** All that a compaction of a conversation up to this place stands for. */
  compact({ parent, input, turnsBefore, userMessages }: Place): {
    readonly compacted: Compacted
    readonly userMessages: readonly UserMessageItemParam[]
  } {
    const calls = [...itemsOf(parent), ...input].filter(({ type }) => type === 'function_call')
    const callIds = new Set(calls.flatMap(({ callId }) => callId ?? []))
    return {
      compacted: { turns: turnsBefore, callIds: [...callIds] },
      userMessages: [...chainOf(parent).flatMap((told) => told.userMessages), ...userMessages],
    }
  }

  /** Drops every stored response. Conversations that are sent whole still get their next turn. */
  forget(): void {
    this.#byResponse.clear()
    for (const [id, known] of this.#byItem) this.#byItem.set(id, { ...known, isForgotten: true })
  }

  /** The turn was used up without a response: the next attempt gets the turn after it. */
  fault({ key }: Place): void {
    this.#faults.set(key, (this.#faults.get(key) ?? 0) + 1)
    forgetOldest(this.#faults)
  }

  /** The response was given. */
  tell({ key, parent, input, userMessages, turn }: Place, response: ResponseResource): void {
    this.#faults.delete(key)
    const output = outputOf(response)
    const items = [...input, ...output]
    const told = { items, userMessages, parent, nextTurn: turn + 1, isStored: response.store }
    this.#byResponse.set(response.id, told)
    forgetOldest(this.#byResponse)
    for (const item of output) {
      if (item.id !== null) this.#byItem.set(item.id, { item, told, isForgotten: false })
      if (item.callId !== null) this.#byCall.set(item.callId, told)
      forgetOldest(this.#byItem)
      forgetOldest(this.#byCall)
    }
    for (const item of response.output) {
      const text = answerText(item)
      if (text !== null) this.#byText.set(text, told)
      forgetOldest(this.#byText)
    }
  }

  /** The item with where it comes from, the one that it names, or all that it stands for; null: not known. */
  #resolve(item: SentItem): readonly PairedItem[] | null {
    const { type, id, sealed } = item
    // Without its content, reasoning is a name for what was stored as well.
    const isName = type === 'item_reference' || (type === 'reasoning' && sealed === null)
    const found = this.#byItem.get(id ?? '')
    if (isName && found?.isForgotten === true) return null
    const known = found?.item ?? null
    if (type === 'item_reference') return known === null ? null : [known]
    if (type === 'compaction') return [item, ...this.#callsIn(sealed)]
    return [known === null ? item : { ...item, origin: known.origin }]
  }

  #callsIn(sealed: string | null): readonly PairedItem[] {
    const { callIds } = openCompaction(this.#where, sealed ?? '') ?? { callIds: [] }
    return callIds.flatMap((callId) =>
      ['function_call', 'function_call_output'].map((type) => ({ ...NOBODY, type, callId })),
    )
  }

  /** How many turns a conversation that is sent whole has had. */
  #turnsIn(items: readonly SentItem[]): number {
    for (const { type, id, callId, sealed, text } of items.toReversed()) {
      const named = this.#byCall.get(callId ?? '') ?? this.#byItem.get(id ?? '')?.told
      const told = named ?? (id === null && text !== null ? this.#byText.get(text) : undefined)
      if (told !== undefined) return told.nextTurn
      if (type === 'compaction') return openCompaction(this.#where, sealed ?? '')?.turns ?? 0
    }
    return 0
  }
}

/** An item of a request. */
interface SentItem extends PairedItem {
  /** What only the provider can read. */
  readonly sealed: string | null
  /** What the model said in it; null: it is no answer of a model. */
  readonly text: string | null
}

const NOBODY = { role: null, id: null, callId: null, origin: null } as const

function inputOf({ input }: Asked): readonly SentItem[] {
  if (typeof input === 'string')
    return [{ ...NOBODY, type: 'message', role: 'user', sealed: null, text: null }]
  return (input ?? []).map((item) => ({
    ...pairedItem(item, null),
    sealed: 'encrypted_content' in item ? (item.encrypted_content ?? null) : null,
    text: answerText(item),
  }))
}

/** The words of an answer, however they are written; null: it is none. */
function answerText(item: InputItem | OutputItem): string | null {
  if (item.type !== 'message' || item.role !== 'assistant') return null
  const { content } = item
  if (typeof content === 'string') return content
  return content.map((part) => ('text' in part ? part.text : '')).join('')
}

function userMessagesOf({ input }: Asked): readonly UserMessageItemParam[] {
  if (typeof input === 'string') return [{ type: 'message', role: 'user', content: input }]
  return (input ?? []).filter((item) => item.type === 'message' && item.role === 'user')
}

/** The items of a response, each with its place in it. */
function outputOf({ id: responseId, output }: ResponseResource): readonly PairedItem[] {
  const items: PairedItem[] = []
  let follower: PairedItem | null = null
  for (const item of output.toReversed()) {
    const paired: PairedItem = pairedItem(item, { responseId, follower })
    if (paired.type !== 'reasoning') follower = paired
    items.push(paired)
  }
  return items.toReversed()
}

function pairedItem(item: InputItem | OutputItem, origin: Origin | null): PairedItem {
  const { type, id } = item
  return {
    type: type ?? 'item_reference',
    role: 'role' in item ? item.role : null,
    id: id ?? null,
    callId: 'call_id' in item ? item.call_id : null,
    origin,
  }
}

function itemsOf(told: Told | null): readonly PairedItem[] {
  return chainOf(told).flatMap(({ items }) => items)
}

/** A response and those that it continues, the first one first. */
function chainOf(told: Told | null): readonly Told[] {
  const chain: Told[] = []
  for (let at = told; at !== null; at = at.parent) chain.push(at)
  return chain.toReversed()
}

// A Map gives its keys in the order in which they came.
function forgetOldest(map: Map<string, unknown>): void {
  if (map.size <= TOLD_MAX) return
  const [oldest] = map.keys()
  if (oldest !== undefined) map.delete(oldest)
}
