import { codePointLength } from '../../protocol/code-point-length.ts'

/** Open Responses: the most characters of a text in a message or of an output. */
const CHARACTERS_MAX = 10_485_760

const MARK = '\n[cut]'

/** A text that the protocol takes: what is over its 10 MiB is cut off, and said to be. */
export function fitText(text: string): string {
  if (text.length <= CHARACTERS_MAX || codePointLength(text) <= CHARACTERS_MAX) return text
  // In code units, which are never fewer than code points.
  const end = CHARACTERS_MAX - MARK.length
  const isInsidePair = (text.codePointAt(end - 1) ?? 0) > 0xff_ff
  return text.slice(0, isInsidePair ? end - 1 : end) + MARK
}
