import type { ContinuityMode, LoopInput } from '../../machines/loop.types.ts'
import { LoopchartError } from '../errors.ts'
import { findUnsendable } from '../protocol/find-unsendable.ts'
import type { AnyItem } from '../protocol/items.ts'
import { isJsonObject, type Json, type JsonObject } from '../protocol/json.ts'
import { isWithin, LENGTH_MAX } from './input-parts.ts'

/** A piece of text, an image or a file of the user's message, spelled as on the wire. */
export type InputPart =
  | { readonly type: 'input_text'; readonly text: string }
  | {
      readonly type: 'input_image'
      /** An address, or the image itself as a data URL. */
      readonly image_url: string
      readonly detail?: 'low' | 'high' | 'auto'
    }
  | {
      readonly type: 'input_file'
      readonly filename?: string
      /** The file itself as a data URL. */
      readonly file_data?: string
      readonly file_url?: string
    }

/** What a run is given: a text, the parts of one message, or items of a conversation so far. */
export type RunInput = string | readonly InputPart[] | readonly JsonObject[]

/**
 * Turns the input of a run into its first items, as a copy. A message may come without its `type`. Throws `usage`,
 * naming the place, when there is nothing in it, a part is over its size, or JSON cannot carry it. Items are taken as
 * they are: each request keeps of them what the protocol has a place for.
 */
export function parseInput(input: RunInput): readonly AnyItem[] {
  if (typeof input === 'string') return [userMessage(checkedParts([{ type: 'input_text', text: input }]))]
  if (!Array.isArray(input) || input.length === 0) throw refusal('must be a text or a list that is not empty')
  const unsendable = findFault(input)
  if (unsendable !== null) throw refusal(`is not valid: ${unsendable}`)
  // A copy, without what JSON leaves out: a run must not change when the caller's object does.
  const entries: readonly Json[] = JSON.parse(JSON.stringify(input))
  if (entries.every(isPart)) return [userMessage(checkedParts(entries))]
  return entries.map(parseItem)
}

/**
 * Where a run goes on from the provider's memory of an earlier one: the last item is new to it. Only where responses are
 * continued by id.
 */
export function cursorOf(
  items: readonly AnyItem[],
  mode: ContinuityMode,
  previousResponseId: string | null,
): LoopInput['cursor'] {
  if (previousResponseId === null || mode !== 'previous_response_id') return null
  return { responseId: previousResponseId, knownItems: items.length - 1 }
}

function findFault(input: unknown): string | null {
  try {
    return findUnsendable(input)
  } catch (error) {
    throw new LoopchartError('usage', 'input cannot be read', { cause: error })
  }
}

const PART_TYPES: ReadonlySet<unknown> = new Set(['input_text', 'input_image', 'input_file'])

function isPart(entry: Json): entry is JsonObject {
  return isJsonObject(entry) && PART_TYPES.has(entry['type'])
}

function userMessage(content: readonly JsonObject[]): AnyItem {
  return { type: 'message', role: 'user', content }
}

function parseItem(entry: Json, index: number): AnyItem {
  if (isPart(entry)) throw refusal('is a part of a message among items', `input[${index}]`)
  const item = isJsonObject(entry) ? readItem(entry) : null
  if (item === null) throw refusal('must be an item with a type', `input[${index}]`)
  const { content } = item
  if (item.type !== 'message' || !Array.isArray(content)) return item
  checkedParts(content.filter(isPart), `input[${index}].content`)
  return item
}

// Open Responses asks for the type of a message; OpenAI, and people, leave it out.
function readItem(entry: JsonObject): AnyItem | null {
  const { type, role } = entry
  if (typeof type === 'string' && type !== '') return { ...entry, type }
  return type === undefined && typeof role === 'string' ? { type: 'message', ...entry } : null
}

function checkedParts(parts: readonly JsonObject[], place = 'input'): readonly JsonObject[] {
  for (const [index, part] of parts.entries()) {
    const fault = faultOf(part)
    if (fault !== null) throw refusal(fault, parts.length === 1 ? place : `${place}[${index}]`)
  }
  return parts
}

function faultOf(part: JsonObject): string | null {
  const { type, text, detail } = part
  if (type === 'input_text') {
    if (typeof text !== 'string' || text === '') return 'must have a text'
    return isWithin(text, LENGTH_MAX.text) ? null : tooLong('text')
  }
  if (type === 'input_image') {
    if (detail !== undefined && detail !== null && detail !== 'low' && detail !== 'high' && detail !== 'auto')
      return 'must have a detail of low, high or auto'
    return sourceFault(part, ['image_url', 'file_id'])
  }
  return sourceFault(part, ['file_data', 'file_url', 'file_id'])
}

function sourceFault(part: JsonObject, keys: readonly string[]): string | null {
  const given = keys.filter((key) => part[key] !== undefined && part[key] !== null)
  if (given.length === 0) return `must have one of ${keys.join(', ')}`
  for (const key of given) {
    const value = part[key]
    if (typeof value !== 'string' || value === '') return `must have a text as ${key}`
    if (isSized(key) && !isWithin(value, LENGTH_MAX[key])) return tooLong(key)
  }
  return null
}

function isSized(key: string): key is keyof typeof LENGTH_MAX {
  return Object.hasOwn(LENGTH_MAX, key)
}

function tooLong(key: keyof typeof LENGTH_MAX): string {
  return `has a ${key} of more than ${LENGTH_MAX[key]} characters`
}

function refusal(complaint: string, place = 'input'): LoopchartError {
  return new LoopchartError('usage', `${place} ${complaint}`)
}
