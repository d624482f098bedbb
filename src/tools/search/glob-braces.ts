import { LoopchartError } from '../../errors.ts'

const ALTERNATIVES_MAX = 128
const DEPTH_MAX = 8

/** Writes a pattern with `{a,b}` as the patterns without braces that it stands for. Throws `pattern_invalid`. */
export function expandBraces(pattern: string): readonly string[] {
  const reader = { characters: Array.from(pattern), at: 0 }
  const patterns = readSequence(reader, 0)
  if (reader.at < reader.characters.length) throw badPattern('it has a } without its {')
  return [...new Set(patterns)]
}

/** The error of a pattern that cannot be used. */
export function badPattern(complaint: string): LoopchartError {
  return new LoopchartError('pattern_invalid', `the glob pattern cannot be used: ${complaint}`)
}

interface Reader {
  readonly characters: readonly string[]
  at: number
}

function readSequence(reader: Reader, depth: number): readonly string[] {
  if (depth > DEPTH_MAX) throw badPattern(`its braces are nested more than ${DEPTH_MAX} deep`)
  let begun: readonly string[] = ['']
  for (;;) {
    const character = reader.characters[reader.at]
    if (character === undefined || character === '}' || (character === ',' && depth > 0)) return begun
    const next = character === '{' ? readGroup(reader, depth) : [readPiece(reader)]
    begun = begun.flatMap((start) => next.map((end) => start + end))
    if (begun.length > ALTERNATIVES_MAX) {
      throw badPattern(`its braces stand for more than ${ALTERNATIVES_MAX} patterns`)
    }
  }
}

function readGroup(reader: Reader, depth: number): readonly string[] {
  const choices: string[] = []
  do {
    reader.at += 1
    choices.push(...readSequence(reader, depth + 1))
    if (choices.length > ALTERNATIVES_MAX) {
      throw badPattern(`its braces stand for more than ${ALTERNATIVES_MAX} patterns`)
    }
  } while (reader.characters[reader.at] === ',')
  if (reader.characters[reader.at] !== '}') throw badPattern('it has a { without its }')
  reader.at += 1
  return choices
}

// One character, or an escaped one, or a set in brackets: braces and commas in those are only characters.
function readPiece(reader: Reader): string {
  const { characters, at } = reader
  const end = characters[at] === '[' ? endOfSet(characters, at) : at + (characters[at] === '\\' ? 2 : 1)
  reader.at = Math.min(end, characters.length)
  return characters.slice(at, end).join('')
}

/** Where the set that begins at `at` is over. A `]` that comes first in a set is one of its characters. */
export function endOfSet(characters: readonly string[], at: number): number {
  let next = at + 1
  if (characters[next] === '!' || characters[next] === '^') next += 1
  for (let isFirst = true; next < characters.length; isFirst = false) {
    if (characters[next] === ']' && !isFirst) return next + 1
    next += characters[next] === '\\' ? 2 : 1
  }
  throw badPattern(String.raw`it has a [ without its ]; write \[ for the character itself`)
}
