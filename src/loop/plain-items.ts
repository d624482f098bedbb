// The items of most requests, which are sent as they are: written without the way that all others take, where they are taken
// apart and held to the whole schema. The text is the same as there, and null unless that is certain.
import type { AnyItem } from '../protocol/items.ts'
import { isJsonObject } from '../protocol/json.ts'
import { CALL_ID_LENGTH_MAX, LENGTH_MAX } from './input-parts.ts'

/** What most runs begin with: one message of the user's that is a text. */
export function promptText(items: readonly AnyItem[]): string | null {
  const item = items[0]
  if (item === undefined || items.length > 1) return null
  const { type, role, content, id, status } = item
  if (type !== 'message' || role !== 'user' || id !== undefined || status !== undefined) return null
  if (!Array.isArray(content) || content.length !== 1) return null
  const part: unknown = content[0]
  if (!isJsonObject(part) || part['type'] !== 'input_text') return null
  const { text } = part
  if (typeof text !== 'string' || text.length > LENGTH_MAX.text) return null
  return `{"type":"message","role":"user","content":[{"type":"input_text","text":${JSON.stringify(text)}}]}`
}

// Where there are more, it no longer matters what one of them takes; and all are compared with all.
const OUTPUTS_MAX = 16

/** What most turns add to a conversation that the provider has: for each call an output that is a text. */
export function outputsText(items: readonly AnyItem[]): string | null {
  if (items.length > OUTPUTS_MAX) return null
  let text = ''
  for (let at = 0; at < items.length; at += 1) {
    const item = items[at]
    const written = item === undefined || isAnswered(items, at, item) ? null : outputText(item)
    if (written === null) return null
    text = at === 0 ? written : `${text},${written}`
  }
  return text
}

// Of two outputs for one call only the first is sent.
function isAnswered(items: readonly AnyItem[], end: number, item: AnyItem): boolean {
  for (let at = 0; at < end; at += 1) if (items[at]?.['call_id'] === item['call_id']) return true
  return false
}

// Open Responses, FunctionCallOutputItemParam. It counts code points, of which a text never has more than units.
function outputText(item: AnyItem): string | null {
  const { type, call_id: callId, output, status } = item
  if (type !== 'function_call_output' || status !== undefined) return null
  if (typeof callId !== 'string' || callId === '' || callId.length > CALL_ID_LENGTH_MAX) return null
  if (typeof output !== 'string' || output.length > LENGTH_MAX.text) return null
  return `{"type":"function_call_output","call_id":${JSON.stringify(callId)},"output":${JSON.stringify(output)}}`
}
