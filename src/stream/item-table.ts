import type { AnyItem } from '../protocol/items.ts'
import type { JsonObject } from '../protocol/json.ts'
import type { NoteAnomaly } from './anomaly.ts'
import { OpenItem, readText } from './open-item.ts'

/**
 * Finds the item an event speaks of.
 *
 * By `output_index` first: some gateways give each event another `item_id`. The id only helps where several items
 * share an index, as weak gateways have it, or where the index is missing. Every look-up is a map access, since a
 * hostile stream decides how many items there are.
 */
export class ItemTable {
  readonly #items: OpenItem[] = []
  readonly #atIndex = new Map<number, { latest: OpenItem; count: number }>()
  readonly #byIdentity = new Map<string, OpenItem>()
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
    for (const index of [item.outputIndex, null]) {
      for (const key of identities(index, item.type, item.callId, item.itemId))
        this.#byIdentity.set(key, item)
    }
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
    const owner = id === null ? undefined : this.#byIdentity.get(identity(null, 'id', id))
    if (owner === found && id === found.itemId) this.#certain = found
    if (owner !== undefined) return owner === found
    return (this.#atIndex.get(found.outputIndex)?.count ?? 1) === 1
  }

  /** The item of which a whole item at this index is another telling, going by its ids. */
  findSame(index: number | null, item: AnyItem): OpenItem | null {
    for (const key of identities(index, item.type, readText(item, 'call_id'), readText(item, 'id'))) {
      const known = this.#byIdentity.get(key)
      if (known !== undefined) return known
    }
    return null
  }

  /** The latest item at this index, or of all when the index is missing. */
  latestAt(index: number | null): OpenItem | null {
    return index === null ? this.#latest : (this.#atIndex.get(index)?.latest ?? null)
  }

  #search(index: number | null, id: string | null): OpenItem | null {
    const there = index === null ? undefined : this.#atIndex.get(index)
    if (index !== null && there === undefined) return null
    if (there?.count === 1) return there.latest
    const byId = id === null ? undefined : this.#byIdentity.get(identity(index, 'id', id))
    return byId ?? this.latestAt(index)
  }
}

/** `output_index` when it is a usable one. */
export function readIndex(event: JsonObject): number | null {
  const index = event['output_index']
  return typeof index === 'number' && Number.isInteger(index) && index >= 0 ? index : null
}

function identity(index: number | null, kind: 'call' | 'id', id: string): string {
  return `${index ?? '*'} ${kind} ${id}`
}

// The call comes first: providers are careful with call ids and careless with item ids. A call and its output share
// the call id, so the type goes with it.
function identities(
  index: number | null,
  type: string,
  callId: string | null,
  itemId: string | null,
): readonly string[] {
  const keys: string[] = []
  if (callId !== null) keys.push(identity(index, 'call', `${type} ${callId}`))
  if (itemId !== null) keys.push(identity(index, 'id', itemId))
  return keys
}
