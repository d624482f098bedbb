import type { AnyItem } from '../protocol/items.ts'
import { isJsonObject, type Json, type JsonObject } from '../protocol/json.ts'
import type { NoteAnomaly } from './anomaly.ts'
import { hasTextArguments, isCutShort } from './call-item.ts'
import { compareArguments, comparePart, compareWithDone, contradiction, partText } from './compare-sources.ts'
import { ItemTable, readIndex } from './item-table.ts'
import { readText, type OpenItem, type OpenPart, type PartType } from './open-item.ts'
import { JsonComparer } from './same-json.ts'
import { streamError, type StreamError } from './stream-error.ts'
import type { StreamLimits } from './stream-limits.ts'

export interface OutputBuilderOptions {
  readonly limits: StreamLimits
  readonly note: NoteAnomaly
  /** Called when the response can no longer be used. */
  readonly fail: (error: StreamError) => void
}

/**
 * Gathers output items from item-level events. It keeps what may be needed should a later event not come, and it
 * trusts no field: validation only annotates, so anything may stand anywhere.
 */
export class OutputBuilder {
  readonly #limits: StreamLimits
  readonly #note: NoteAnomaly
  readonly #fail: (error: StreamError) => void
  /** Shared with whoever compares the terminal response: the bound is one for the whole response. */
  readonly comparer: JsonComparer
  readonly #table = new ItemTable()
  #count = 0

  constructor({ limits, note, fail }: OutputBuilderOptions) {
    this.#limits = limits
    this.#note = note
    this.#fail = fail
    // Enough to hold every source of the largest call against each other once.
    this.comparer = new JsonComparer(6 * limits.argumentsBytesMax)
  }

  /** In order of arrival. */
  get items(): readonly OpenItem[] {
    return this.#table.items
  }

  delta(event: JsonObject, type: PartType): void {
    const delta = event['delta']
    if (typeof delta === 'string') this.#openPart(event, type)?.deltas.append(delta)
  }

  textDone(event: JsonObject, type: PartType, text: Json | undefined): void {
    const part = typeof text === 'string' ? this.#openPart(event, type) : null
    if (part !== null && typeof text === 'string') this.#finishPart(part, text, event)
  }

  partAdded(event: JsonObject, type: PartType | null): void {
    const item = type === null ? null : this.#openItem(event, itemTypeOf(type))
    if (type === null || item === null || item.isClosed) return
    const index = partIndex(event, type)
    if (item.findPart(type, index) !== undefined) return
    const part = this.#addPart(item, type, index)
    // What is known at the beginning is part of the text.
    const known = partText(event['part'])
    if (known !== null && known !== '') part?.deltas.append(known)
  }

  partDone(event: JsonObject, type: PartType | null): void {
    const item = type === null ? null : this.#table.find(event, this.#note)
    const text = partText(event['part'])
    if (item === null || type === null || text === null || item.isClosed) return
    const part = item.findPart(type, partIndex(event, type)) ?? this.#openPart(event, type)
    if (part !== null) this.#finishPart(part, text, event)
  }

  #finishPart(part: OpenPart, text: string, event: JsonObject): void {
    const item = this.#table.find(event, this.#note)
    if (item !== null) comparePart(part, text, item, this.#note)
    part.doneText ??= text
  }

  annotation(event: JsonObject): void {
    const { annotation } = event
    if (isJsonObject(annotation)) this.#openPart(event, 'output_text')?.annotations.push(annotation)
  }

  argumentsDelta(event: JsonObject): void {
    const delta = event['delta']
    const call = delta == null ? null : this.#openCall(event)
    if (call === null) return
    if (typeof delta !== 'string') {
      call.hasOddArguments = true
      return
    }
    if (call.argumentsDone !== null)
      this.#note('delta_after_done', `arguments at output_index ${call.outputIndex}`)
    else if (this.#fits(call.argumentDeltas.length + delta.length)) call.argumentDeltas.append(delta)
  }

  /** Whether the call of the event that was taken last may get so many more characters of arguments. */
  hasRoomFor(event: JsonObject, chars: number): boolean {
    const known = this.#table.find(event, this.#note)?.argumentDeltas.length ?? 0
    return known + chars <= this.#limits.argumentsBytesMax
  }

  argumentsDone(event: JsonObject): void {
    const call = event['arguments'] == null ? null : this.#openCall(event)
    if (call === null) return
    if (!hasTextArguments(event)) call.hasOddArguments = true
    const text = readText(event, 'arguments')
    if (text === null || !this.#fits(text.length)) return
    compareArguments(call, text, 'arguments.done', this.comparer, this.#note)
    if (call.argumentsDone !== null && !this.comparer.isSame(call.argumentsDone, text)) {
      call.hasRivalArgumentsDone = true
    }
    call.argumentsDone = text
  }

  itemAdded(event: JsonObject): void {
    const item = readItem(event['item'])
    if (item === null) return
    const index = readIndex(event)
    const latest = index === null ? null : this.#table.latestAt(index)
    const same = this.#table.findSame(index, item) ?? (isNameless(item) ? latest : null)
    if (same !== null && same.added === null && !same.isClosed && same.type === item.type) {
      // Its deltas came first; that was noted with them.
      same.open(item)
      this.#table.remember(same)
    } else if (same !== null) {
      this.#note(same.isClosed ? 'item_added_after_done' : 'item_added_repeated', placeOf(same))
      this.#contradict(same, item)
    } else {
      if (latest !== null) this.#note('output_index_reused', placeOf(latest))
      this.#addItem(event, item.type, item)
    }
  }

  itemDone(event: JsonObject): void {
    const item = readItem(event['item'])
    const index = readIndex(event)
    const latest = this.#table.latestAt(index)
    if (item === null) {
      latest?.close(null)
      return
    }
    if (!this.#fits(readText(item, 'arguments')?.length ?? 0)) return
    // Without a match by id it is the item that is open there: gateways that change ids on the way do so here too.
    const known =
      this.#table.findSame(index, item) ??
      (latest !== null && (!latest.isClosed || isNameless(item)) ? latest : null) ??
      this.#findElsewhere(index, item)
    if (known === null) this.#doneUnannounced(event, item, latest)
    else if (!this.#contradict(known, item)) this.#done(known, item)
  }

  /** The open item with this one's ids at another index, when nothing is at its own. */
  #findElsewhere(index: number | null, item: AnyItem): OpenItem | null {
    const known = this.#table.latestAt(index) === null ? this.#table.findSame(null, item) : null
    if (known === null || known.isClosed) return null
    this.#note('output_index_changed', `${known.outputIndex} then ${index ?? 'missing'}`)
    return known
  }

  #doneUnannounced(event: JsonObject, item: AnyItem, latest: OpenItem | null): void {
    this.#note('item_not_added', `${item.type} done at output_index ${readIndex(event) ?? 'missing'}`)
    if (latest !== null && readIndex(event) !== null) this.#note('output_index_reused', placeOf(latest))
    const added = this.#addItem(event, item.type, null)
    added?.close(item)
    if (added !== null) this.#table.remember(added)
  }

  #done(known: OpenItem, item: AnyItem): void {
    if (!known.isClosed) {
      compareWithDone(known, item, this.comparer, this.#note)
      if (readText(item, 'arguments') !== null) known.hasRivalArgumentsDone = false
      known.close(item)
      this.#table.remember(known)
      return
    }
    this.#note('item_done_repeated', placeOf(known))
    if (known.type !== 'function_call' || known.hasRivalArguments) return
    if (isCutShort(item)) known.hasRivalArguments = true
    const again = readText(item, 'arguments')
    if (again === null) return
    if (!this.comparer.isSame(known.streamedArguments(), again)) {
      known.hasRivalArguments = true
      this.#note('arguments_differ', `two output_item.done at output_index ${known.outputIndex}`)
    }
  }

  /** Whether the item cannot be the known one; a response that contradicts itself about an item is not used. */
  #contradict(known: OpenItem, item: AnyItem): boolean {
    const reason = contradiction(known, item)
    if (reason !== null) this.#violate(known, reason)
    return reason !== null
  }

  #violate(item: OpenItem, reason: string): void {
    const detail = `${reason} at output_index ${item.outputIndex}`
    this.#note('item_contradicted', detail)
    this.#fail(streamError('protocol_violation', `the stream contradicts itself: ${detail}`))
  }

  #openCall(event: JsonObject): OpenItem | null {
    const item = this.#openItem(event, 'function_call')
    if (item === null || item.type !== 'function_call') {
      if (item !== null) this.#violate(item, `arguments for an item of type ${item.type}`)
      return null
    }
    if (!this.#table.isCertain(event, item)) {
      this.#violate(item, 'arguments that may be those of another item')
      return null
    }
    if (!item.isClosed) return item
    this.#note('delta_after_done', placeOf(item))
    return null
  }

  #openPart(event: JsonObject, type: PartType): OpenPart | null {
    const item = this.#openItem(event, itemTypeOf(type))
    if (item === null) return null
    const index = partIndex(event, type)
    const part = item.findPart(type, index)
    if (item.isClosed || (part !== undefined && part.doneText !== null)) {
      this.#note('delta_after_done', `${type} ${index} at output_index ${item.outputIndex}`)
      return null
    }
    if (part !== undefined) return part
    if (item.type === 'function_call') this.#violate(item, `${type} for an item of type function_call`)
    this.#note('part_not_added', `${type} ${index} at output_index ${item.outputIndex}`)
    return this.#addPart(item, type, index)
  }

  #openItem(event: JsonObject, type: string): OpenItem | null {
    const item = this.#table.find(event, this.#note)
    if (item !== null) return item
    this.#note('item_not_added', `${type} at output_index ${readIndex(event) ?? 'missing'}`)
    return this.#addItem(event, type, null)
  }

  #addItem(event: JsonObject, type: string, added: AnyItem | null): OpenItem | null {
    return this.#hasRoom() ? this.#table.add(event, type, added) : null
  }

  #addPart(item: OpenItem, type: PartType, index: number): OpenPart | null {
    return this.#hasRoom() ? item.addPart(type, index) : null
  }

  #hasRoom(): boolean {
    this.#count += 1
    if (this.#count <= this.#limits.itemsMax) return true
    this.#fail(
      streamError(
        'response_too_large',
        `the response has more than ${this.#limits.itemsMax} items and parts`,
      ),
    )
    return false
  }

  #fits(argumentsLength: number): boolean {
    if (argumentsLength <= this.#limits.argumentsBytesMax) return true
    const message = `one call's arguments are larger than ${this.#limits.argumentsBytesMax} bytes`
    this.#fail(streamError('response_too_large', message))
    return false
  }
}

/** An item as providers send it: any object with a type. */
export function readItem(value: Json | undefined): AnyItem | null {
  return isJsonObject(value) && hasType(value) ? value : null
}

function hasType(value: JsonObject): value is AnyItem {
  return typeof value['type'] === 'string'
}

function isNameless(item: AnyItem): boolean {
  return readText(item, 'id') === null && readText(item, 'call_id') === null
}

/** Which item something is said about. */
export function placeOf(item: OpenItem): string {
  return `${item.type} at output_index ${item.outputIndex}`
}

function itemTypeOf(type: PartType): string {
  return type === 'output_text' || type === 'refusal' ? 'message' : 'reasoning'
}

function partIndex(event: JsonObject, type: PartType): number {
  const index = event[type === 'summary_text' ? 'summary_index' : 'content_index']
  return typeof index === 'number' ? index : 0
}
