/** Says how many tokens a text has. Must give the same number for the same text. */
export type TokenCounter = (text: string) => number

// In quarters of a token, by the bytes that a character has in UTF-8.
const ASCII = 1
const TWO_BYTES = 2
const THREE_BYTES = 4
const FOUR_BYTES = 8

/**
 * How many tokens a text has, about: four ASCII characters make one, as do two characters of two bytes in UTF-8
 * (Greek, Cyrillic, accents) and one of three bytes (Chinese, Japanese, Korean, most of Indic); one of four bytes
 * (emoji, rare Chinese) makes two. Rounded up. Characters are code points, so nothing is counted twice for its
 * surrogates. Rather too high than too low: a budget that is kept by it holds.
 */
export function estimateTokens(text: string): number {
  let quarters = 0
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at)
    if (unit < 0x80) quarters += ASCII
    else if (unit < 0x8_00) quarters += TWO_BYTES
    else if (isPairAt(text, at)) {
      quarters += FOUR_BYTES
      at += 1
    } else quarters += THREE_BYTES
  }
  return Math.ceil(quarters / 4)
}

function isPairAt(text: string, at: number): boolean {
  return (text.codePointAt(at) ?? 0) > 0xff_ff
}
