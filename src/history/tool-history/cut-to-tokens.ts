import type { TokenCounter } from './estimate-tokens.ts'

const MARK = '...'

/**
 * As much of the begin of a text as has no more than so many tokens, the `...` behind it included; empty when not even
 * one character fits. What it gives was counted, whatever the counter is like.
 */
export function cutToTokens(text: string, tokensMax: number, count: TokenCounter): string {
  if (count(text) <= tokensMax) return text
  let best = ''
  let low = 1
  let high = text.length - 1
  while (low <= high) {
    const middle = Math.floor((low + high) / 2)
    const cut = `${text.slice(0, outsidePair(text, middle))}${MARK}`
    if (count(cut) <= tokensMax) {
      best = cut
      low = middle + 1
    } else high = middle - 1
  }
  return best === MARK ? '' : best
}

/** The same place, or the one before it when it is in the middle of a character. */
function outsidePair(text: string, at: number): number {
  return (text.codePointAt(at - 1) ?? 0) > 0xff_ff ? at - 1 : at
}
