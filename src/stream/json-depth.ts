import { endOfString } from '../protocol/end-of-string.ts'

const QUOTE = 34
const OPEN_BRACKET = 91
const CLOSE_BRACKET = 93
const OPEN_BRACE = 123
const CLOSE_BRACE = 125

/**
 * Whether JSON text is nested deeper than `depthMax`.
 *
 * JSON.parse takes any depth, JSON.stringify and every recursive walk do not: what is kept after parsing has to
 * be checked first, on the text, without recursion.
 */
export function isDeeperThan(depthMax: number, json: string): boolean {
  if (json.length <= 2 * depthMax) return false
  // A search is far quicker than a look at every character, and most texts open less altogether than the depth allows.
  if (countUpTo(depthMax + 1, '{', json) + countUpTo(depthMax + 1, '[', json) <= depthMax) return false
  let depth = 0
  for (let at = 0; at < json.length; at += 1) {
    const code = json.charCodeAt(at)
    if (code === QUOTE) {
      at = endOfString(json, at)
    } else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      depth += 1
      if (depth > depthMax) return true
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
      depth -= 1
    }
  }
  return false
}

function countUpTo(most: number, character: string, text: string): number {
  let count = 0
  for (let at = text.indexOf(character); at !== -1 && count < most; at = text.indexOf(character, at + 1)) {
    count += 1
  }
  return count
}
