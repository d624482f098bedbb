import type { Frame } from '../frames/generated/frame.ts'

// Quotes, a colon and a comma; numbers are short.
const MEMBER_CHARS = 4
const SCALAR_CHARS = 6

/**
 * About how many characters a frame has as JSON. Texts are counted as long as they are, without looking into them: that
 * of a request may be in pieces which it shares with others, until somebody does.
 */
export function frameChars(frame: Frame): number {
  return charsOf(frame)
}

function charsOf(value: unknown): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return SCALAR_CHARS
  let chars = 0
  for (const [key, inner] of Object.entries(value)) chars += key.length + MEMBER_CHARS + charsOf(inner)
  return chars
}
