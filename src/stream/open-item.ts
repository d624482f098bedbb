import type { AnyItem } from '../protocol/items.ts'
import type { Json, JsonObject } from '../protocol/json.ts'
import { TextBuffer } from './text-buffer.ts'

export type PartType = 'output_text' | 'refusal' | 'reasoning_text' | 'summary_text'

/** A content part or a reasoning summary part, as far as it has arrived. */
export interface OpenPart {
  readonly type: PartType
  readonly index: number
  readonly deltas: TextBuffer
  readonly annotations: Json[]
  /** The text that `.done` gave; it outranks the deltas. */
  doneText: string | null
}

/** One output item while its events arrive: everything that any of them said about it. */
export class OpenItem {
  readonly outputIndex: number
  readonly type: string
  added: AnyItem | null = null
  /** The item as `response.output_item.done` gave it. */
  done: AnyItem | null = null
  isClosed = false
  /** Two finished items gave this call different arguments: it must not run. */
  hasRivalArguments = false
  /** Two `arguments.done` differ: it must not run, unless a higher source settles which was meant. */
  hasRivalArgumentsDone = false
  /** Something that should have been argument text was not. */
  hasOddArguments = false
  isIdChangeNoted = false
  itemId: string | null
  callId: string | null = null
  name: string | null = null
  readonly argumentDeltas = new TextBuffer()
  argumentsDone: string | null = null
  #parts: Map<string, OpenPart> | null = null
  #latestPart: OpenPart | null = null

  constructor(outputIndex: number, type: string, itemId: string | null) {
    this.outputIndex = outputIndex
    this.type = type
    this.itemId = itemId
  }

  open(item: AnyItem): void {
    this.added = item
    this.#learn(item)
  }

  close(item: AnyItem | null): void {
    this.isClosed = true
    this.done = item
    if (item !== null) this.#learn(item)
  }

  findPart(type: PartType, index: number): OpenPart | undefined {
    const latest = this.#latestPart
    // Deltas come in long runs for one part.
    if (latest !== null && latest.type === type && latest.index === index) return latest
    return this.#parts?.get(`${type} ${index}`)
  }

  addPart(type: PartType, index: number): OpenPart {
    const part: OpenPart = { type, index, deltas: new TextBuffer(), annotations: [], doneText: null }
    this.#parts ??= new Map()
    this.#parts.set(`${type} ${index}`, part)
    this.#latestPart = part
    return part
  }

  get contentParts(): readonly OpenPart[] {
    return this.#inOrder((part) => part.type !== 'summary_text')
  }

  get summaryParts(): readonly OpenPart[] {
    return this.#inOrder((part) => part.type === 'summary_text')
  }

  /** The arguments by the source with the highest authority that said anything; empty when none did. */
  streamedArguments(): string {
    return (
      readText(this.done, 'arguments') ??
      (this.argumentsDone || this.argumentDeltas.text() || readText(this.added, 'arguments') || '')
    )
  }

  /** The item put together from its parts and deltas, for when no event carried it whole. */
  assemble(status: 'completed' | 'incomplete'): AnyItem {
    const base = { type: this.type, ...(this.itemId === null ? {} : { id: this.itemId }), ...this.added }
    const content = this.contentParts.length > 0 ? this.#content(null) : this.#content(this.added)
    switch (this.type) {
      case 'message':
        return { role: 'assistant', ...base, status, content }
      case 'reasoning': {
        return { ...base, summary: this.#summary(this.added), ...(content.length === 0 ? {} : { content }) }
      }
      case 'function_call':
        return { ...base, status }
      default:
        return base
    }
  }

  /** A finished item whose parts were left out gets those that were streamed. */
  complete(item: AnyItem): AnyItem {
    if (item.type !== 'message' && item.type !== 'reasoning') return item
    const content = this.#content(item)
    const isSameContent = content.length === 0 || content === item['content']
    const summary = item.type === 'reasoning' ? this.#summary(item) : []
    const isSameSummary = summary.length === 0 || summary === item['summary']
    if (isSameContent && isSameSummary) return item
    return { ...item, ...(isSameContent ? {} : { content }), ...(isSameSummary ? {} : { summary }) }
  }

  #content(item: AnyItem | null): readonly Json[] {
    return filled(item?.['content']) ?? this.contentParts.map(finishedPart)
  }

  #summary(item: AnyItem | null): readonly Json[] {
    return filled(item?.['summary']) ?? this.summaryParts.map(finishedPart)
  }

  #inOrder(isWanted: (part: OpenPart) => boolean): readonly OpenPart[] {
    if (this.#parts === null) return NO_PARTS
    return [...this.#parts.values()].filter(isWanted).sort((a, b) => a.index - b.index)
  }

  #learn(item: AnyItem): void {
    this.itemId = readText(item, 'id') ?? this.itemId
    this.callId = readText(item, 'call_id') ?? this.callId
    this.name = readText(item, 'name') ?? this.name
  }
}

const NO_PARTS: readonly OpenPart[] = []

/** A non-empty string field, or null. */
export function readText(object: JsonObject | null, key: string): string | null {
  const value = object?.[key]
  return typeof value === 'string' && value !== '' ? value : null
}

/** Stands for a type and an id, and for no others: both may have any character, and the length says where the type ends. */
export function typedKey(type: string, id: string): string {
  return `${type.length} ${type} ${id}`
}

function filled(parts: Json | undefined): readonly Json[] | null {
  return Array.isArray(parts) && parts.length > 0 ? parts : null
}

function finishedPart(part: OpenPart): JsonObject {
  const text = part.doneText ?? part.deltas.text()
  switch (part.type) {
    case 'output_text':
      return { type: 'output_text', text, annotations: part.annotations }
    case 'refusal':
      return { type: 'refusal', refusal: text }
    case 'reasoning_text':
    case 'summary_text':
      return { type: part.type, text }
  }
}
