// oxlint-disable-next-line no-control-regex -- these are the characters to be shown
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/gu

/**
 * What takes no place, or turns around what stands beside it: marks of direction, zero-width characters, separators of
 * lines, tags, fillers, and halves of surrogate pairs.
 */
export const UNSEEN = /[\p{Cf}\p{Zl}\p{Zp}\p{Cs}\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0]/gu

/**
 * Text as a person is shown it who must agree to it: what a terminal would obey, or nobody would see, is spelled out.
 * Line feeds and tabs stay; a carriage return is `\r`.
 */
export function visibleText(text: string): string {
  return text
    .replaceAll(CONTROLS, (character) => (character === '\r' ? String.raw`\r` : `\\u${hexOf(character)}`))
    .replaceAll(UNSEEN, (character) => `⟦U+${hexOf(character).toUpperCase()}⟧`)
}

/** The number of a character in hex, four digits at least. */
export function hexOf(character: string): string {
  return (character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')
}
