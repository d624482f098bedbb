import type { AnyItem } from '../../protocol/items.ts'
import { isJsonObject, type Json, type JsonObject } from '../../protocol/json.ts'

/** The text of a message; what is not text is named in brackets. */
export function messageText({ content }: AnyItem): string {
  return contentText(content)
}

/** What came of a call, in words: its output, or why there is none. */
export function outputText({ output = null, outcome, detail }: AnyItem): string {
  if (output !== null) return contentText(output)
  const why = typeof outcome === 'string' ? outcome : 'outcome_unknown'
  return typeof detail === 'string' && detail !== '' ? `${why}: ${detail}` : why
}

function contentText(content: Json | undefined): string {
  if (typeof content === 'string') return content
  if (Array.isArray(content)) return content.map(partText).join('\n')
  return content === undefined ? '' : JSON.stringify(content)
}

function partText(part: Json): string {
  if (!isJsonObject(part)) return JSON.stringify(part)
  const { text, refusal, filename, type } = part
  if (typeof text === 'string') return text
  if (typeof refusal === 'string') return refusal
  const kind = typeof type === 'string' ? type.replace(/^input_/u, '') : 'part'
  return typeof filename === 'string' ? `[${kind} ${filename}]` : `[${kind}]`
}

/** A field of an item that should be a text; empty when it is none. */
export function textOf(item: JsonObject, key: string): string {
  const value = item[key]
  return typeof value === 'string' ? value : ''
}

/** Whether an item is a message of somebody other than the model. */
export function isFromCaller({ type, role }: AnyItem): boolean {
  return type === 'message' && role !== 'assistant'
}
