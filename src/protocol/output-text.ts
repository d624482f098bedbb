import type { AnyItem } from './items.ts'
import { isJsonObject, type Json } from './json.ts'

/**
 * The text of the assistant's messages. Where some are marked as the final answer, only those: the others are the
 * model's commentary on its way.
 */
export function outputText(items: readonly AnyItem[]): string {
  const messages = items.filter((item) => item.type === 'message')
  const final = messages.filter((item) => item['phase'] === 'final_answer')
  return (final.length > 0 ? final : messages).map((item) => messageText(item['content'])).join('')
}

function messageText(content: Json | undefined): string {
  if (!Array.isArray(content)) return ''
  return content
    .map((part: Json) => (isJsonObject(part) && part['type'] === 'output_text' ? part['text'] : ''))
    .filter((text) => typeof text === 'string')
    .join('')
}
