import { escapeUnsafe } from '../frames/format-frame.ts'
import { hexOf, UNSEEN, visibleText } from '../tools/visible-text.ts'

/** Text of several lines as a terminal may show it: what it would obey or hide is spelled out, lines and tabs stay. */
export function safeText(text: string): string {
  return visibleText(text.replaceAll('\r\n', '\n'))
}

// The two joiners, which scripts and emoji are written with: without them a word of Persian is another one.
const JOINERS = /[\u200c\u200d]/u
const AROUND_JOINERS = /(?<=[\u200c\u200d])|(?=[\u200c\u200d])/u

/** Text that is read and not agreed to, such as an answer: the same, but joiners stay. */
export function readableText(text: string): string {
  if (!JOINERS.test(text)) return safeText(text)
  return text
    .split(AROUND_JOINERS)
    .map((part) => (JOINERS.test(part) ? part : safeText(part)))
    .join('')
}

/** Text as part of one line: line ends are blanks, and nothing is left that a terminal obeys. */
export function oneLine(text: string): string {
  return safeText(text.trim().replaceAll(/\s*[\r\n\t]\s*/gu, ' '))
}

/** JSON as a terminal may show it: what it would obey or hide is written as escapes, which mean the same in JSON. */
export function safeJson(json: string): string {
  return escapeUnsafe(json).replaceAll(UNSEEN, (character) =>
    Array.from({ length: character.length }, (_, at) => `\\u${hexOf(character.charAt(at))}`).join(''),
  )
}

/** Cuts a text that is longer, and shows that it did. */
export function shorten(text: string, lengthMax: number): string {
  return text.length <= lengthMax ? text : `${text.slice(0, lengthMax)}…`
}
