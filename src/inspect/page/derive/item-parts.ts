import type { JsonObject } from '../../../protocol/json.ts'
import { fieldsOf, listIn, textIn } from './json-fields.ts'
import { jsonText } from './json-text.ts'

/** What a piece of a conversation is. */
export type PartKind = 'text' | 'refusal' | 'reasoning' | 'summary' | 'other'

/** A piece of what somebody said. */
interface ItemPart {
  readonly kind: PartKind
  readonly text: string
}

/**
 * What an item says, piece by piece: a message's texts and refusals, the thoughts of reasoning. A part that is no text,
 * as a picture, is there by its type. Calls and their outputs say nothing.
 */
export function itemParts(value: unknown): readonly ItemPart[] {
  const item = fieldsOf(value)
  switch (textIn(item, 'type') ?? 'message') {
    case 'message':
      return messageParts(item)
    case 'reasoning':
      return [...thoughts(item, 'summary', 'summary'), ...thoughts(item, 'content', 'reasoning')]
    case 'function_call':
    case 'function_call_output':
      return []
    default:
      return [{ kind: 'other', text: jsonText(item) }]
  }
}

function messageParts(item: JsonObject): readonly ItemPart[] {
  const content = textIn(item, 'content')
  if (content !== null) return [{ kind: 'text', text: content }]
  return listIn(item, 'content').map((value) => contentPart(fieldsOf(value)))
}

function contentPart(part: JsonObject): ItemPart {
  const refusal = textIn(part, 'refusal')
  if (refusal !== null) return { kind: 'refusal', text: refusal }
  const text = textIn(part, 'text')
  if (text !== null) return { kind: 'text', text }
  return { kind: 'other', text: `(${textIn(part, 'type') ?? 'a part without a type'})` }
}

function thoughts(item: JsonObject, key: string, kind: PartKind): readonly ItemPart[] {
  return listIn(item, key)
    .map((part) => textIn(fieldsOf(part), 'text') ?? '')
    .filter((text) => text !== '')
    .map((text) => ({ kind, text }))
}
