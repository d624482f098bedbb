import type { Frame } from './generated/frame.ts'

// DEL, the C1 controls (which some terminals obey as escape sequences), line separators, and marks that turn text
// around. JSON.stringify escapes the C0 controls by itself.
// oxlint-disable-next-line no-control-regex -- these are the characters to be kept from terminals
const UNSAFE = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/gu

/** A frame as one line of a log, without the line's end. Safe to show on a terminal, whatever the model wrote. */
export function formatFrame(frame: Frame): string {
  return escapeUnsafe(JSON.stringify(frame))
}

/** Writes characters that a terminal might obey as JSON escapes; for text that is inside a JSON string. */
export function escapeUnsafe(json: string): string {
  return json.replaceAll(UNSAFE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
