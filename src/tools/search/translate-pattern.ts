import { LoopchartError } from '../../errors.ts'
import { codePointSet, type CodePointSet } from './code-point-set.ts'
import { foldCase } from './fold-case.ts'
import { parsePattern, type PatternNode } from './parse-pattern.ts'

export interface PatternOptions {
  /** Whether the text is searched for as it stands. */
  readonly isLiteral: boolean
  readonly isCaseIgnored: boolean
}

/** A pattern in the words of each engine. Both mean the same on any line. */
export interface TranslatedPattern {
  readonly ripgrep: string
  readonly re2: string
}

// A loop over a line keeps this many places of the pattern in mind at most; that bounds what one line can cost.
const WEIGHT_MAX = 1000
const LETTERS = /^[0-9A-Za-z]$/

/**
 * Translates a pattern of a model for both engines. It is parsed here and written anew from what was understood, so
 * that nothing one engine reads in another way can get through. Throws `pattern_invalid`.
 */
export function translatePattern(
  text: string,
  { isLiteral, isCaseIgnored }: PatternOptions,
): TranslatedPattern {
  const node = isLiteral ? literalNode(text, isCaseIgnored) : parsePattern(text, isCaseIgnored)
  if (weightOf(node) > WEIGHT_MAX) {
    const message = `pattern has more than ${WEIGHT_MAX} parts once its repetitions are written out, use * or + or smaller counts`
    throw new LoopchartError('pattern_invalid', message)
  }
  return { ripgrep: write(node, RIPGREP_BOUNDARY), re2: write(node, RE2_BOUNDARY) }
}

// Rust's \b is about Unicode words unless it is told otherwise; that of RE2 is about ASCII.
const RIPGREP_BOUNDARY = String.raw`(?-u:\b)`
const RE2_BOUNDARY = String.raw`\b`

function literalNode(text: string, isCaseIgnored: boolean): PatternNode {
  if (!text.isWellFormed())
    throw new LoopchartError('pattern_invalid', 'pattern has half of a character in it')
  if (text.includes('\n')) {
    throw new LoopchartError('pattern_invalid', 'pattern has a line break in it, search for one of its lines')
  }
  const nodes = Array.from(text, (letter): PatternNode => {
    const codePoint = letter.codePointAt(0) ?? 0
    const set = codePointSet([[codePoint, codePoint]])
    return { type: 'set', set: isCaseIgnored ? foldCase(set) : set }
  })
  return { type: 'sequence', nodes }
}

function weightOf(node: PatternNode): number {
  switch (node.type) {
    case 'set':
    case 'start':
    case 'end':
    case 'boundary':
      return 1
    case 'sequence':
    case 'choice':
      return Math.max(
        1,
        node.nodes.reduce((sum, part) => sum + weightOf(part), 0),
      )
    case 'repeat':
      return weightOf(node.node) * Math.max(1, node.max ?? node.min + 1)
  }
}

function write(node: PatternNode, boundary: string): string {
  switch (node.type) {
    case 'set':
      return writeSet(node.set)
    case 'start':
      return '^'
    case 'end':
      // The \r of a line that ends with \r\n is at its end for the engines, not for the one who asks.
      return String.raw`(?:\x{d}?$)`
    case 'boundary':
      return boundary
    case 'sequence':
      return node.nodes.map((part) => write(part, boundary)).join('')
    case 'choice':
      return `(?:${node.nodes.map((part) => write(part, boundary)).join('|')})`
    case 'repeat':
      return `(?:${write(node.node, boundary)})${quantifier(node.min, node.max)}`
  }
}

function quantifier(min: number, max: number | null): string {
  if (max === null && min <= 1) return min === 0 ? '*' : '+'
  if (max === null) return `{${min},}`
  return min === max ? `{${min}}` : `{${min},${max}}`
}

function writeSet(set: CodePointSet): string {
  const [only] = set
  if (set.length === 1 && only !== undefined && only[0] === only[1]) return writeCodePoint(only[0])
  const ranges = set.map(([first, last]) =>
    first === last ? writeCodePoint(first) : `${writeCodePoint(first)}-${writeCodePoint(last)}`,
  )
  return `[${ranges.join('')}]`
}

/** As a number, unless it is a letter or a digit: no engine can find another meaning in that. */
function writeCodePoint(codePoint: number): string {
  const letter = String.fromCodePoint(codePoint)
  return LETTERS.test(letter) ? letter : String.raw`\x{${codePoint.toString(16)}}`
}
