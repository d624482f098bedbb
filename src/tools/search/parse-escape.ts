import { codePointSet, complement, type CodePointSet } from './code-point-set.ts'
import type { PatternReader } from './pattern-reader.ts'

const DIGITS = codePointSet([[0x30, 0x39]])
const WORDS = codePointSet([
  [0x30, 0x39],
  [0x41, 0x5a],
  [0x5f, 0x5f],
  [0x61, 0x7a],
])
// Without \n, which no line has.
const SPACES = codePointSet([
  [0x09, 0x09],
  [0x0b, 0x0d],
  [0x20, 0x20],
])
const LINE_ENDS = codePointSet([
  [0x0a, 0x0a],
  [0x0d, 0x0d],
])

// In ASCII, for both engines: Rust would take the digits of all scripts for \d, RE2 would not.
const NAMED: Readonly<Record<string, CodePointSet>> = {
  d: DIGITS,
  D: allBut(DIGITS),
  w: WORDS,
  W: allBut(WORDS),
  s: SPACES,
  S: allBut(SPACES),
  t: codePointSet([[0x09, 0x09]]),
  v: codePointSet([[0x0b, 0x0b]]),
  f: codePointSet([[0x0c, 0x0c]]),
  r: codePointSet([[0x0d, 0x0d]]),
}

const INSTEAD: Readonly<Record<string, readonly [what: string, instead: string]>> = {
  n: ['a line break', 'search for one of the lines, they are matched one by one'],
  p: ['a Unicode property', 'name the characters in a class such as [a-z]'],
  P: ['a Unicode property', 'name the characters in a class such as [^a-z]'],
  A: ['an anchor of the text', 'use ^'],
  z: ['an anchor of the text', 'use $'],
  Z: ['an anchor of the text', 'use $'],
  B: ['a place that is no word boundary', String.raw`use \w or \W beside it`],
  '<': ['a word boundary of another dialect', String.raw`use \b`],
  '>': ['a word boundary of another dialect', String.raw`use \b`],
  Q: ['a quotation', 'set literal to true, or escape each character'],
}

/** Everything outside of the set that a line can have; `\r` is left out because it belongs to the end of a line. */
export function allBut(set: CodePointSet): CodePointSet {
  return complement(codePointSet([...set, ...LINE_ENDS]))
}

/** Reads an escape, the backslash first. */
export function readEscape(reader: PatternReader): CodePointSet {
  const number =
    reader.takeMatch(/\\x([0-9a-f]{2})/iy) ??
    reader.takeMatch(/\\u([0-9a-f]{4})/iy) ??
    reader.takeMatch(/\\[xu]\{([0-9a-f]{1,8})\}/iy)
  if (number !== null) {
    const codePoint = reader.inLine(Number.parseInt(number[1] ?? '', 16))
    return codePointSet([[codePoint, codePoint]])
  }
  const character = reader.takeMatch(/\\([ -/:-@[-`{-~])/y)?.[1]
  if (character !== undefined && INSTEAD[character] === undefined) {
    const codePoint = character.codePointAt(0) ?? 0
    return codePointSet([[codePoint, codePoint]])
  }
  const letter = character ?? reader.takeMatch(/\\(.)/suy)?.[1]
  if (letter === undefined)
    throw reader.fault('a backslash at its end', String.raw`write \\ for the character`)
  const named = Object.hasOwn(NAMED, letter) ? NAMED[letter] : undefined
  if (named !== undefined) return named
  throw reader.fault(...complaintOf(letter))
}

function complaintOf(letter: string): readonly [what: string, instead: string] {
  if (/^[0-9]$/.test(letter)) return ['a back-reference', 'write out what it refers to']
  const known = Object.hasOwn(INSTEAD, letter) ? INSTEAD[letter] : undefined
  return known ?? ['an unknown escape', 'set literal to true if the pattern is plain text']
}
