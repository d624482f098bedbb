import type { CodePointSet } from './code-point-set.ts'
import { foldCase } from './fold-case.ts'
import { parseClass } from './parse-class.ts'
import { allBut, readEscape } from './parse-escape.ts'
import { PatternReader } from './pattern-reader.ts'

/** What a pattern means, with nothing left of how it was written. */
export type PatternNode =
  | { readonly type: 'set'; readonly set: CodePointSet }
  | { readonly type: 'start' | 'end' | 'boundary' }
  | { readonly type: 'sequence' | 'choice'; readonly nodes: readonly PatternNode[] }
  | {
      readonly type: 'repeat'
      readonly node: PatternNode
      readonly min: number
      /** Null: no limit. */
      readonly max: number | null
    }

const DEPTH_MAX = 50
const COUNT_MAX = 1000

const ANY: CodePointSet = allBut([])

/** Parses the patterns that ripgrep and RE2 have in common. Throws `pattern_invalid`, with what to write instead. */
export function parsePattern(text: string, isCaseIgnored: boolean): PatternNode {
  const reader = new PatternReader(text)
  const node = parseChoice(reader, isCaseIgnored, 0)
  if (!reader.isAtEnd) throw reader.fault('a ) without its (', String.raw`write \) for the character`)
  return node
}

function parseChoice(reader: PatternReader, isCaseIgnored: boolean, depth: number): PatternNode {
  if (depth > DEPTH_MAX) throw reader.fault(`groups more than ${DEPTH_MAX} deep`, 'use a simpler pattern')
  const nodes: PatternNode[] = []
  let isIgnored = isCaseIgnored
  do {
    const parts: PatternNode[] = []
    while (!reader.isAtEnd && !reader.sees('|') && !reader.sees(')')) {
      const flag = readFlag(reader)
      // A flag counts to the end of its group, also in the alternatives that follow.
      if (flag === null) parts.push(parseRepeat(reader, isIgnored, depth))
      else isIgnored = flag
    }
    nodes.push({ type: 'sequence', nodes: parts })
  } while (reader.take('|'))
  return { type: 'choice', nodes }
}

/** `(?i)` and `(?-i)`: whether case is ignored from here on; null when neither is here. */
function readFlag(reader: PatternReader): boolean | null {
  if (reader.take('(?i)')) return true
  return reader.take('(?-i)') ? false : null
}

function parseRepeat(reader: PatternReader, isIgnored: boolean, depth: number): PatternNode {
  const node = parseAtom(reader, isIgnored, depth)
  const counts = readCounts(reader)
  if (counts === null) return node
  if (node.type === 'start' || node.type === 'end' || node.type === 'boundary') {
    throw reader.fault(String.raw`a repetition of ^, $ or \b`, 'leave it out')
  }
  // Lazy or greedy makes no difference to whether a line matches.
  reader.take('?')
  if (readCounts(reader) !== null) {
    throw reader.fault('a repetition of a repetition', 'put the inner one into a group: (?:a+)*')
  }
  return { type: 'repeat', node, ...counts }
}

interface Counts {
  readonly min: number
  readonly max: number | null
}

function readCounts(reader: PatternReader): Counts | null {
  if (reader.take('*')) return { min: 0, max: null }
  if (reader.take('+')) return { min: 1, max: null }
  if (reader.take('?')) return { min: 0, max: 1 }
  const braces = reader.takeMatch(/\{(\d{1,9})(?:(,)(\d{0,9}))?\}/y)
  if (braces === null) {
    if (reader.sees('{,')) throw reader.fault('a repetition without its least count', 'write {0,3} for {,3}')
    return null
  }
  const [, least = '', comma = '', most = ''] = braces
  const min = Number(least)
  const max = comma === '' ? min : numberOrNull(most)
  if (Math.max(min, max ?? 0) > COUNT_MAX) throw reader.fault(`a count above ${COUNT_MAX}`, 'use * or +')
  if (max !== null && max < min)
    throw reader.fault('a repetition whose counts are the wrong way round', 'swap them')
  return { min, max }
}

function numberOrNull(digits: string): number | null {
  return digits === '' ? null : Number(digits)
}

function parseAtom(reader: PatternReader, isIgnored: boolean, depth: number): PatternNode {
  if (reader.take('.')) return { type: 'set', set: ANY }
  if (reader.take('^')) return { type: 'start' }
  if (reader.take('$')) return { type: 'end' }
  if (reader.take(String.raw`\b`)) return { type: 'boundary' }
  if (reader.sees('(')) return parseGroup(reader, isIgnored, depth)
  if (reader.take('[')) return setNode(parseClass(reader, isIgnored))
  if (reader.sees('\\')) return setNode(cased(readEscape(reader), isIgnored))
  if (readCounts(reader) !== null) {
    throw reader.fault('a repetition of nothing', String.raw`write \*, \+, \? or \{ for the character`)
  }
  return setNode(cased(reader.takeLiteral(), isIgnored))
}

function parseGroup(reader: PatternReader, isIgnored: boolean, depth: number): PatternNode {
  const inner = readGroupStart(reader, isIgnored)
  const node = parseChoice(reader, inner, depth + 1)
  if (!reader.take(')')) throw reader.fault('a ( without its )', String.raw`write \( for the character`)
  return node
}

/** Whether case is ignored inside. */
function readGroupStart(reader: PatternReader, isIgnored: boolean): boolean {
  if (['(?=', '(?!', '(?<=', '(?<!'].some((start) => reader.sees(start))) {
    throw reader.fault('a look-around', 'search for the text alone and read the lines around it')
  }
  if (reader.take('(?i:')) return true
  if (reader.take('(?-i:')) return false
  // The name of a group is for reading what it matched, which nobody does here.
  if (reader.take('(?:') || reader.takeMatch(/\(\?P?<[A-Za-z_]\w{0,63}>/y) !== null) return isIgnored
  if (reader.sees('(?')) {
    throw reader.fault(
      'a group of an unknown kind',
      'only (...), (?:...), (?<name>...), (?i) and (?i:...) are known',
    )
  }
  reader.take('(')
  return isIgnored
}

function setNode(set: CodePointSet): PatternNode {
  return { type: 'set', set }
}

function cased(set: CodePointSet, isIgnored: boolean): CodePointSet {
  return isIgnored ? foldCase(set) : set
}
