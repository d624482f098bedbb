import { LoopchartError } from '../errors.ts'
import { messageText } from '../history/compaction/item-text.ts'
import { parseInput, type InputPart } from '../loop/run-input.ts'
import type { NewMessage } from './answer-message.ts'

/** Reads a message. Throws `usage` for one that a run would not take either. */
export function parseMessage(
  message: string | readonly InputPart[],
  from: { readonly actorId: string; readonly origin: string },
): NewMessage {
  const items = parseInput(message)
  const [item] = items
  if (items.length !== 1 || item?.['role'] !== 'user') {
    throw new LoopchartError('usage', 'a message must be a text or the parts of one')
  }
  const parts: readonly InputPart[] | null =
    typeof message === 'string' ? null : JSON.parse(JSON.stringify(message))
  // What later turns know of a part is its text, or that there was one.
  return { entry: { type: 'message', role: 'user', text: messageText(item), ...from }, parts }
}
