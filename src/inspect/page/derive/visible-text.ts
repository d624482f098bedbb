/** A run of text, or one character that would not be seen or would change how others are. */
interface TextRun {
  readonly text: string
  /** What the character is, where the run stands for one that is hidden. */
  readonly hidden: string | null
}

// Control characters but line feed and tab; what sets the direction of text; what has no width and is no part of a
// script; line and paragraph separators; interlinear marks; tags and supplementary selectors; halves of a character.
// Joiners and the first selectors are left: scripts and emoji are written with them.
const HIDDEN =
  /(?![\t\n])[\p{Cc}\p{Cs}\p{Bidi_Control}\u00AD\u115F\u1160\u180E\u200B\u2028\u2029\u2060-\u206F\u3164\uFEFF\uFFA0\uFFF9-\uFFFB\u{E0000}-\u{E01EF}]/gu

/** Text as a person can trust it: what is hidden in it is named in its place. */
export function visibleText(text: string): readonly TextRun[] {
  const runs: TextRun[] = []
  let from = 0
  for (const match of text.matchAll(HIDDEN)) {
    if (match.index > from) runs.push({ text: text.slice(from, match.index), hidden: null })
    runs.push(hiddenRun(match[0]))
    from = match.index + match[0].length
  }
  if (from < text.length) runs.push({ text: text.slice(from), hidden: null })
  return runs
}

const PICTURES_START = 0x2400
const DELETE = 0x7f
const DELETE_PICTURE = 0x2421
const SPACE = 0x20

function hiddenRun(character: string): TextRun {
  const code = character.codePointAt(0) ?? 0
  const hidden = `U+${code.toString(16).toUpperCase().padStart(4, '0')}`
  if (code < SPACE) return { text: String.fromCodePoint(PICTURES_START + code), hidden }
  if (code === DELETE) return { text: String.fromCodePoint(DELETE_PICTURE), hidden }
  return { text: hidden, hidden }
}
