import { escapeUnsafe } from '../frames/format-frame.ts'

// oxlint-disable-next-line no-control-regex -- these are the characters to be kept from terminals
const CONTROLS = /[\u0000-\u0008\u000b-\u001f]/gu

/** Text of several lines as a terminal may show it: what it would obey is spelled out, lines and tabs stay. */
export function safeText(text: string): string {
  const spelled = text
    .replaceAll('\r\n', '\n')
    .replaceAll(CONTROLS, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
  return escapeUnsafe(spelled)
}

/** Text as part of one line: line ends are blanks, and nothing is left that a terminal obeys. */
export function oneLine(text: string): string {
  return safeText(text.trim().replaceAll(/\s*[\r\n\t]\s*/gu, ' '))
}

/** Cuts a text that is longer, and shows that it did. */
export function shorten(text: string, lengthMax: number): string {
  return text.length <= lengthMax ? text : `${text.slice(0, lengthMax)}…`
}
