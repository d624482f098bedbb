import type { UserMessageItemParam } from '../../protocol/generated/openresponses.ts'
import { fitText } from './fit-text.ts'
import type { OutputPart } from './prior-call.ts'

/** A result told as text of the user's, with the images and files that came with it. */
export function contextMessage(result: string, parts: readonly OutputPart[] | null): UserMessageItemParam {
  const media = (parts ?? []).flatMap((part) =>
    part.type === 'input_image' || part.type === 'input_file' ? [part] : [],
  )
  const text = fitText(`Context (tool result):\n${result}`)
  return { type: 'message', role: 'user', content: [{ type: 'input_text', text }, ...media] }
}
