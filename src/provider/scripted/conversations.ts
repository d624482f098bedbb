import { hash } from 'node:crypto'

import type { InputItem, OutputItem } from '../../protocol/items.ts'
import type { CreateResponseBody } from '../../protocol/requests.ts'
import type { ResponseResource } from '../../protocol/responses.ts'
import { checkPairing, type Origin, type PairedItem } from './check-pairing.ts'
import { badRequest, type Refusal } from './refusal.ts'

/** Where a request stands in its conversation. */
export interface Place {
  /** The turn that answers it, from 0: those before it in the conversation, and its own attempts that a fault ended. */
  readonly turn: number
  readonly key: string
  readonly parent: Told | null
  readonly input: readonly PairedItem[]
}

/** A response that was given, with what was said before it. */
interface Told {
  readonly items: readonly PairedItem[]
  readonly parent: Told | null
  readonly nextTurn: number
  readonly isStored: boolean
}

/** An item that came from here, with its response. */
interface Known {
  readonly item: PairedItem
  readonly told: Told
}

const TOLD_MAX = 10_000

/**
 * What a scripted provider remembers. A conversation is known by `previous_response_id`, or, when the whole of it is
 * sent, by the ids of the items and calls that came from here; anything else begins a new one. Going back to an older
 * response gives the turns after that one again.
 */
export class Conversations {
  readonly #byResponse = new Map<string, Told>()
  readonly #byItem = new Map<string, Known>()
  readonly #byCall = new Map<string, Told>()
  readonly #faults = new Map<string, number>()

  /** Finds the place of a request, or says why it has none. */
  place(request: CreateResponseBody): Place | Refusal {
    const { previous_response_id: previousId } = request
    const input = inputOf(request)
    const parent = previousId == null ? null : (this.#byResponse.get(previousId) ?? null)
    if (previousId != null && parent?.isStored !== true) {
      return badRequest(`Previous response with id '${previousId.slice(0, 100)}' not found.`, {
        code: 'previous_response_not_found',
        param: 'previous_response_id',
      })
    }
    const resolved: PairedItem[] = []
    for (const item of input) {
      const found = this.#resolve(item)
      if (found === null) {
        return badRequest(`Item with id '${item.id?.slice(0, 100)}' not found.`, { param: 'input' })
      }
      resolved.push(found)
    }
    const fault = checkPairing(itemsOf(parent), resolved)
    if (fault !== null) return badRequest(fault, { param: 'input' })
    const last = parent ?? this.#lastKnown(resolved)
    const key = hash('sha256', JSON.stringify([previousId ?? null, request.input ?? null]), 'base64url')
    const turn = (last?.nextTurn ?? 0) + (this.#faults.get(key) ?? 0)
    return { turn, key, parent, input: resolved }
  }

  /** The turn was used up without a response: the next attempt gets the turn after it. */
  fault({ key }: Place): void {
    this.#faults.set(key, (this.#faults.get(key) ?? 0) + 1)
    forgetOldest(this.#faults)
  }

  /** The response was given. */
  tell({ key, parent, input, turn }: Place, response: ResponseResource): void {
    this.#faults.delete(key)
    const output = outputOf(response)
    const told = { items: [...input, ...output], parent, nextTurn: turn + 1, isStored: response.store }
    this.#byResponse.set(response.id, told)
    forgetOldest(this.#byResponse)
    for (const item of output) {
      if (item.id !== null) this.#byItem.set(item.id, { item, told })
      if (item.callId !== null) this.#byCall.set(item.callId, told)
      forgetOldest(this.#byItem)
      forgetOldest(this.#byCall)
    }
  }

  /** The item with where it comes from, or the one that it names; null when that is not known. */
  #resolve(item: PairedItem): PairedItem | null {
    const { type, id } = item
    const known = this.#byItem.get(id ?? '')?.item ?? null
    if (type === 'item_reference') return known
    return known === null ? item : { ...item, origin: known.origin }
  }

  #lastKnown(items: readonly PairedItem[]): Told | null {
    for (const { id, callId } of items.toReversed()) {
      const told = this.#byCall.get(callId ?? '') ?? this.#byItem.get(id ?? '')?.told
      if (told !== undefined) return told
    }
    return null
  }
}

function inputOf({ input }: CreateResponseBody): readonly PairedItem[] {
  if (typeof input === 'string')
    return [{ type: 'message', role: 'user', id: null, callId: null, origin: null }]
  return (input ?? []).map((item) => pairedItem(item, null))
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
  const parts: (readonly PairedItem[])[] = []
  for (let at = told; at !== null; at = at.parent) parts.push(at.items)
  return parts.toReversed().flat()
}

// A Map gives its keys in the order in which they came.
function forgetOldest(map: Map<string, unknown>): void {
  if (map.size <= TOLD_MAX) return
  const [oldest] = map.keys()
  if (oldest !== undefined) map.delete(oldest)
}
