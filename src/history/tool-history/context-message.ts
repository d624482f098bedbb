import type { UserMessageItemParam } from '../../protocol/generated/openresponses.ts'
import { fitText } from './fit-text.ts'
import type { OutputPart } from './prior-call.ts'

/** Stands before a result that is told as text of the user's. */
export const CONTEXT_HEADING = 'Context (tool result):'

/** A result told as text of the user's, with the images and files that came with it. */
export function contextMessage(result: string, parts: readonly OutputPart[] | null): UserMessageItemParam {
  const media = (parts ?? []).flatMap((part) =>
    part.type === 'input_image' || part.type === 'input_file' ? [part] : [],
  )
  const text = fitText(`${CONTEXT_HEADING}\n${result}`)
  return { type: 'message', role: 'user', content: [{ type: 'input_text', text }, ...media] }
}
