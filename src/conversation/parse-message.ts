import { LoopchartError } from '../errors.ts'
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
  const isText = typeof message === 'string'
  const text = isText ? message : message.map(partText).join('\n')
  const parts: readonly InputPart[] | null = isText ? null : JSON.parse(JSON.stringify(message))
  return { entry: { type: 'message', role: 'user', text, ...from }, parts }
}

/** What later turns know of a part: the text of it, or that there was one. */
function partText(part: InputPart): string {
  switch (part.type) {
    case 'input_text':
      return part.text
    case 'input_image':
      return '[image]'
    case 'input_file':
      return part.filename === undefined ? '[file]' : `[file ${part.filename}]`
  }
}
