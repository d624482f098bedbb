import type { AnyItem } from '../protocol/items.ts'
import type { JsonObject } from '../protocol/json.ts'
import type { NoteAnomaly } from './anomaly.ts'
import { OpenItem, readText, typedKey } from './open-item.ts'

/**
 * Finds the item an event speaks of.
 *
 * By `output_index` first: some gateways give each event another `item_id`. The id only helps where several items
 * share an index, as weak gateways have it, or where the index is missing.
 */
export class ItemTable {
  readonly #items: OpenItem[] = []
  readonly #atIndex = new Map<number, { latest: OpenItem; count: number }>()
  /** What is known of items, in the order in which it was learned. */
  readonly #memories: Memory[] = []
  /** The same by key, once it is much. */
  #byIdentity: Map<string, OpenItem> | null = null
  /** An item whose own id is known to mean it and no other. */
  #certain: OpenItem | null = null
  #latest: OpenItem | null = null

  /** In order of arrival. */
  get items(): readonly OpenItem[] {
    return this.#items
  }

  add(event: JsonObject, type: string, added: AnyItem | null): OpenItem {
    const item = new OpenItem(readIndex(event) ?? this.#items.length, type, readText(event, 'item_id'))
    if (added !== null) item.open(added)
    this.#items.push(item)
    const there = this.#atIndex.get(item.outputIndex)
    if (there === undefined) this.#atIndex.set(item.outputIndex, { latest: item, count: 1 })
    else {
      there.latest = item
      there.count += 1
    }
    this.#latest = item
    this.remember(item)
    return item
  }

  /** Makes an item findable by the ids that it has by now. */
  remember(item: OpenItem): void {
    this.#certain = null
    const memory = { item, callId: item.callId, itemId: item.itemId }
    this.#memories.push(memory)
    if (this.#byIdentity !== null) index(memory, this.#byIdentity)
    else if (this.#memories.length > MEMORIES_SEARCHED) {
      this.#byIdentity = new Map()
      for (const one of this.#memories) index(one, this.#byIdentity)
    }
  }

  /** The item that was last known at an index, or anywhere, by the id of its call. */
  #byCall(at: number | null, type: string, callId: string): OpenItem | null {
    if (this.#byIdentity !== null) return this.#byIdentity.get(callKey(at, type, callId)) ?? null
    for (let last = this.#memories.length - 1; last >= 0; last -= 1) {
      const memory = this.#memories[last]
      if (memory?.callId === callId && memory.item.type === type && isAt(at, memory.item)) return memory.item
    }
    return null
  }

  /** The same by its own id. */
  #byId(at: number | null, id: string): OpenItem | null {
    if (this.#byIdentity !== null) return this.#byIdentity.get(idKey(at, id)) ?? null
    for (let last = this.#memories.length - 1; last >= 0; last -= 1) {
      const memory = this.#memories[last]
      if (memory?.itemId === id && isAt(at, memory.item)) return memory.item
    }
    return null
  }

  /** The item that a delta or a part event belongs to. */
  find(event: JsonObject, note: NoteAnomaly): OpenItem | null {
    const latest = this.#latest
    const id = event['item_id']
    // Deltas come in long runs for one item.
    if (latest !== null && latest.outputIndex === event['output_index'] && latest.itemId === id) return latest
    const found = this.#search(readIndex(event), typeof id === 'string' ? id : null)
    if (found === null) return null
    this.#latest = found
    if (typeof id === 'string' && found.itemId !== null && id !== found.itemId && !found.isIdChangeNoted) {
      found.isIdChangeNoted = true
      note('item_id_changed', `${found.itemId} then ${id} at output_index ${found.outputIndex}`)
    }
    return found
  }

  /**
   * Whether it is certain which item an event means: its id is not that of another item, and where several share the
   * index, it is that of one of them. Text in the wrong place is a blemish, arguments in the wrong place are not.
   */
  isCertain(event: JsonObject, found: OpenItem): boolean {
    const id = readText(event, 'item_id')
    // Deltas come in long runs for one item, and nothing about it changes in between.
    if (id !== null && this.#certain === found && id === found.itemId) return true
    const owner = id === null ? null : this.#byId(null, id)
    if (owner === found && id === found.itemId) this.#certain = found
    if (owner !== null) return owner === found
    return (this.#atIndex.get(found.outputIndex)?.count ?? 1) === 1
  }

  /** The item of which a whole item at this index is another telling, going by its ids. */
  findSame(index: number | null, item: AnyItem): OpenItem | null {
    // The call comes first: providers are careful with call ids and careless with item ids.
    const callId = readText(item, 'call_id')
    const known = callId === null ? null : this.#byCall(index, item.type, callId)
    if (known !== null) return known
    const id = readText(item, 'id')
    return id === null ? null : this.#byId(index, id)
  }

  /** The latest item at this index, or of all when the index is missing. */
  latestAt(index: number | null): OpenItem | null {
    return index === null ? this.#latest : (this.#atIndex.get(index)?.latest ?? null)
  }

  #search(index: number | null, id: string | null): OpenItem | null {
    const there = index === null ? undefined : this.#atIndex.get(index)
    if (index !== null && there === undefined) return null
    if (there?.count === 1) return there.latest
    const byId = id === null ? null : this.#byId(index, id)
    return byId ?? this.latestAt(index)
  }
}

/** `output_index` when it is a usable one. */
export function readIndex(event: JsonObject): number | null {
  const index = event['output_index']
  return typeof index === 'number' && Number.isInteger(index) && index >= 0 ? index : null
}

/** The ids that an item had at a time. */
interface Memory {
  readonly item: OpenItem
  readonly callId: string | null
  readonly itemId: string | null
}

// Most responses have an item or two, and looking at each is quicker than making keys. How many there are is the
// provider's to say: from here on, every look-up is a map access.
const MEMORIES_SEARCHED = 8

function index({ item, callId, itemId }: Memory, byIdentity: Map<string, OpenItem>): void {
  for (const at of [item.outputIndex, null]) {
    if (callId !== null) byIdentity.set(callKey(at, item.type, callId), item)
    if (itemId !== null) byIdentity.set(idKey(at, itemId), item)
  }
}

// A call and its output share the call id, so the type goes with it.
function callKey(at: number | null, type: string, callId: string): string {
  return `${at ?? '*'} call ${typedKey(type, callId)}`
}

function idKey(at: number | null, id: string): string {
  return `${at ?? '*'} id ${id}`
}

function isAt(at: number | null, { outputIndex }: OpenItem): boolean {
  return at === null || at === outputIndex
}
