import { codePointSet, without, type CodePointRange, type CodePointSet } from './code-point-set.ts'
import { foldCase } from './fold-case.ts'
import { allBut, readEscape } from './parse-escape.ts'
import type { PatternReader } from './pattern-reader.ts'

const NEWLINE = 0x0a

/** Reads a class in brackets, of which the first one has been read. */
export function parseClass(reader: PatternReader, isCaseIgnored: boolean): CodePointSet {
  const isNegated = reader.take('^')
  const ranges: CodePointRange[] = []
  // A bracket that comes first stands for itself, or the class would be empty.
  let isFirst = true
  while (isFirst || !reader.take(']')) {
    ranges.push(...readMember(reader))
    isFirst = false
  }
  const set = codePointSet(ranges)
  const cased = isCaseIgnored ? foldCase(set) : set
  // A range may run through \n; ripgrep would refuse what could match it.
  const result = isNegated ? allBut(cased) : without(cased, NEWLINE)
  if (result.length === 0) throw reader.fault('a class that nothing is in', 'leave it out')
  return result
}

function readMember(reader: PatternReader): CodePointSet {
  if (['&&', '~~', '--'].some((operator) => reader.sees(operator))) {
    throw reader.fault('an operation on sets', 'name the characters, with a backslash before punctuation')
  }
  const first = readSingle(reader)
  if (!reader.sees('-') || reader.sees('-]')) return first
  if (reader.sees('--')) throw reader.fault('an operation on sets', String.raw`write \- for the character`)
  reader.take('-')
  const last = readSingle(reader)
  const [from, to] = [onlyOf(first), onlyOf(last)]
  if (from === null || to === null)
    throw reader.fault('a range from or to a class', String.raw`write \- for the character`)
  if (from > to) throw reader.fault('a range that runs backwards', 'swap its ends')
  return codePointSet([[from, to]])
}

function readSingle(reader: PatternReader): CodePointSet {
  if (reader.sees('\\')) {
    if (reader.sees(String.raw`\b`)) throw reader.fault('a word boundary in a class', 'put it outside')
    return readEscape(reader)
  }
  if (reader.sees('['))
    throw reader.fault('a [ in a class', String.raw`write \[ for the character, a-z for [:lower:]`)
  return reader.takeLiteral()
}

function onlyOf(set: CodePointSet): number | null {
  const [range] = set
  return set.length === 1 && range !== undefined && range[0] === range[1] ? range[0] : null
}
