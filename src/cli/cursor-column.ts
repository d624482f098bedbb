/**
 * Where the cursor is in its row after a text, from 0; `columns` when the row is full and the next character will begin
 * another one. Widths are those of most terminals.
 */
export function columnAfter(start: number, text: string, columns: number): number {
  let column = start
  for (const character of text) {
    if (character === '\n') column = 0
    else if (character === '\t') column = Math.min((Math.floor(column / TAB) + 1) * TAB, columns - 1)
    else {
      const width = widthOf(character)
      // A full row is left only by something that takes a place.
      if (width > 0 && column + width > columns) column = 0
      column += width
    }
  }
  return column
}

const TAB = 8
const NO_WIDTH = /^[\p{M}\p{Cf}]$/u
const WIDE =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\p{Emoji_Presentation}\u{20000}-\u{3fffd}]$/u

function widthOf(character: string): number {
  if (character < '\u0300') return 1
  if (NO_WIDTH.test(character)) return 0
  return WIDE.test(character) ? 2 : 1
}
