import { isJsonObject } from '../protocol/json.ts'
import { parseRequest } from '../protocol/parse-request.ts'
import { cutMiddle } from './cut-middle.ts'

/** A piece of text, an image or a file in the output of a call. */
export type ContentPart =
  | { readonly type: 'input_text'; readonly text: string }
  | { readonly type: 'input_image'; readonly image_url: string; readonly detail?: 'low' | 'high' | 'auto' }
  | {
      readonly type: 'input_file'
      readonly filename?: string
      readonly file_data?: string
      readonly file_url?: string
    }

const PART_TYPES: ReadonlySet<unknown> = new Set(['input_text', 'input_image', 'input_file'])

/**
 * A copy of a list of content parts, texts over `textLengthMax` code points cut in the middle. Null when the
 * value is of another kind; throws `request_invalid` with the field when it is such a list and breaks the
 * schema of the protocol.
 */
export function readContentParts(value: unknown, textLengthMax: number): readonly ContentPart[] | null {
  if (!Array.isArray(value) || value.length === 0) return null
  if (!value.every((part) => isJsonObject(part) && PART_TYPES.has(part['type']))) return null
  const copy: readonly ContentPart[] = JSON.parse(JSON.stringify(value))
  const parts = copy.map((part) =>
    part.type === 'input_text' ? { ...part, text: cutMiddle(part.text, textLengthMax, 'plain') } : part,
  )
  const item = { type: 'function_call_output', call_id: 'call', output: parts }
  parseRequest({ model: 'model', input: [item] })
  return parts
}
