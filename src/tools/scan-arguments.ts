import { endOfString } from '../protocol/end-of-string.ts'
import { quoted } from './quoted.ts'

const QUOTE = 34
const COMMA = 44
const MINUS = 45
const COLON = 58
const OPEN_BRACKET = 91
const CLOSE_BRACKET = 93
const OPEN_BRACE = 123
const CLOSE_BRACE = 125

const FAULTS_MAX = 5

/** What a text shows before anything is made of it. */
export interface ArgumentScan {
  /** The scan ended early: brackets are nested deeper than allowed. */
  readonly isTooDeep: boolean
  /** The scan ended early: there are more values than allowed. */
  readonly isTooMany: boolean
  /** At most five: keys that occur twice in one object, numbers that JavaScript would change. */
  readonly faults: readonly string[]
}

/**
 * Looks over JSON text in one pass, without recursion. JSON.parse takes any depth, keeps the last of two equal
 * keys and rounds numbers, all in silence; nothing of that can be seen in what it gives. About text that is
 * not JSON the answer means nothing, but comes as fast.
 */
export function scanArguments(text: string, depthMax: number, valuesMax: number): ArgumentScan {
  const faults: string[] = []
  // The keys seen in each object that is open; null stands for an array.
  const open: (Set<string> | null)[] = []
  let values = 1
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      const end = endOfString(text, at)
      const keys = open.at(-1) ?? null
      if (keys !== null && isBeforeColon(text, end)) noteKey(keys, text.slice(at, end + 1), faults)
      at = end
    } else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      open.push(code === OPEN_BRACE ? new Set() : null)
      values += 1
      if (open.length > depthMax) return { isTooDeep: true, isTooMany: false, faults: [] }
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
      open.pop()
    } else if (code === COMMA) {
      values += 1
      if (values > valuesMax) return { isTooDeep: false, isTooMany: true, faults: [] }
    } else if (code === MINUS || isDigit(code)) {
      const end = endOfNumber(text, at)
      noteNumber(text.slice(at, end), faults)
      at = end - 1
    }
  }
  return { isTooDeep: false, isTooMany: false, faults }
}

function isBeforeColon(text: string, end: number): boolean {
  let at = end + 1
  while (isSpace(text.charCodeAt(at))) at += 1
  return text.charCodeAt(at) === COLON
}

function isSpace(code: number): boolean {
  return code === 32 || code === 9 || code === 10 || code === 13
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57
}

function noteKey(keys: Set<string>, literal: string, faults: string[]): void {
  const key = keyOf(literal)
  if (keys.has(key)) note(`the key ${quoted(key)} occurs more than once in one object`, faults)
  keys.add(key)
}

// "a" and "\u0061" are the same key.
function keyOf(literal: string): string {
  if (!literal.includes('\\')) return literal.slice(1, -1)
  try {
    return String(JSON.parse(literal))
  } catch {
    return literal
  }
}

function endOfNumber(text: string, start: number): number {
  let end = start + 1
  while (isInNumber(text.charCodeAt(end))) end += 1
  return end
}

// A digit, or one of + - . E e; past the end of the text the code is NaN.
function isInNumber(code: number): boolean {
  return isDigit(code) || code === 43 || code === MINUS || code === 46 || code === 69 || code === 101
}

// An account number that arrives rounded is another account.
function noteNumber(literal: string, faults: string[]): void {
  if (literal.length < 4) return
  const value = Number(literal)
  if (Number.isNaN(value)) return
  if (!Number.isFinite(value)) note(`the number ${quoted(literal, 24)} is too large`, faults)
  else if (/^-?\d{16,}$/.test(literal) && BigInt(literal) !== BigInt(value)) {
    note(`the number ${quoted(literal, 24)} cannot be held exactly, send fewer digits or a string`, faults)
  }
}

function note(fault: string, faults: string[]): void {
  if (faults.length < FAULTS_MAX) faults.push(fault)
}
