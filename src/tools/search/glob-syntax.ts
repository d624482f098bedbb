import { badPattern, endOfSet, expandBraces } from './glob-braces.ts'

const LENGTH_MAX = 1024
const EXPANDED_LENGTH_MAX = 16 * 1024
// RE2 takes no more than 1000 groups in each other, and each name makes a few.
const NAMES_MAX = 128

/** A glob in the syntax of RE2. */
export interface GlobSyntax {
  /** Fits the whole path of a file. */
  readonly files: string
  /** Fits the path of a folder, with a `/` behind it, in which the pattern can find something. */
  readonly folders: string
}

/**
 * Translates a glob. `*`, `?` and `[a-z]` stay within a name, and `**` as a whole name fits any folders. Unless
 * hidden names are matched as others, none of them fits a dot at the begin of a name. Throws `pattern_invalid`.
 */
export function globSyntax(pattern: string, isHiddenMatched: boolean): GlobSyntax {
  if (pattern.length > LENGTH_MAX) throw badPattern(`it is longer than ${LENGTH_MAX} characters`)
  if (!pattern.isWellFormed()) throw badPattern('it has half a surrogate pair')
  const flats = expandBraces(pattern)
  if (flats.reduce((length, flat) => length + flat.length, 0) > EXPANDED_LENGTH_MAX) {
    throw badPattern('its braces stand for too much')
  }
  const all = flats.map((flat) => partsOf(flat, !isHiddenMatched))
  const name = isHiddenMatched ? '[^/]+' : VISIBLE
  return {
    files: anyOf(all.map((parts) => filesOf(parts, name))),
    folders: anyOf(all.map((parts) => foldersOf(parts, name))),
  }
}

const VISIBLE = '[^/.][^/]*'

/** The syntax of one name, or null for `**`. */
type Part = string | null

function anyOf(choices: readonly string[]): string {
  return String.raw`\A(?:${choices.join('|')})\z`
}

function partsOf(flat: string, isDotHeld: boolean): readonly Part[] {
  if (flat.startsWith('/')) throw badPattern('it is absolute; begin it with a name or with **')
  const names = flat.split('/').filter((name) => name !== '' && name !== '.')
  if (names.length === 0) throw badPattern('it is empty')
  if (names.length > NAMES_MAX) throw badPattern(`it has more than ${NAMES_MAX} names`)
  if (names.includes('..')) throw badPattern('it has a .. in it')
  // All that is in a folder, as people mean it.
  if (flat.endsWith('/')) names.push('**')
  const isRepeated = (index: number): boolean => names[index] === '**' && names[index - 1] === '**'
  return names
    .filter((_, index) => !isRepeated(index))
    .map((name) => (name === '**' ? null : nameSyntax(tokensOf(Array.from(name)), isDotHeld)))
}

function filesOf([part, ...rest]: readonly Part[], name: string): string {
  if (part === undefined) return ''
  if (part === null) return rest.length === 0 ? `${name}(?:/${name})*` : `(?:${name}/)*${filesOf(rest, name)}`
  return rest.length === 0 ? part : `${part}/${filesOf(rest, name)}`
}

function foldersOf([part, ...rest]: readonly Part[], name: string): string {
  if (part === undefined) return ''
  if (part === null) return `(?:${name}/)*${foldersOf(rest, name)}`
  return rest.length === 0 ? '' : `(?:${part}/${foldersOf(rest, name)})?`
}

type Token =
  | { readonly type: 'character'; readonly code: number }
  | { readonly type: 'any' }
  | { readonly type: 'star' }
  | { readonly type: 'set'; readonly ranges: readonly Range[] }

type Range = readonly [first: number, last: number]

const DOT = 0x2e
const SLASH = 0x2f
const CODE_MAX = 0x10_ff_ff

function tokensOf(characters: readonly string[]): readonly Token[] {
  const tokens: Token[] = []
  for (let at = 0; at < characters.length;) {
    const character = characters[at]
    if (character === '[') {
      const end = endOfSet(characters, at)
      tokens.push({ type: 'set', ranges: rangesOf(characters.slice(at + 1, end - 1)) })
      at = end
    } else if (character === '*') {
      if (tokens.at(-1)?.type !== 'star') tokens.push({ type: 'star' })
      at += 1
    } else if (character === '?') {
      tokens.push({ type: 'any' })
      at += 1
    } else {
      at += character === '\\' ? 1 : 0
      tokens.push({ type: 'character', code: codeAt(characters, at) })
      at += 1
    }
  }
  return tokens
}

function rangesOf(inside: readonly string[]): readonly Range[] {
  const isNegated = inside[0] === '!' || inside[0] === '^'
  const ranges: Range[] = []
  for (let at = isNegated ? 1 : 0; at < inside.length;) {
    if (inside[at] === '\\') at += 1
    const first = codeAt(inside, at)
    at += 1
    if (inside[at] !== '-' || at + 1 >= inside.length) {
      ranges.push([first, first])
      continue
    }
    at += inside[at + 1] === '\\' ? 2 : 1
    const last = codeAt(inside, at)
    at += 1
    if (last < first) throw badPattern('a range in its [] goes backwards')
    ranges.push([first, last])
  }
  return isNegated ? without([[0, CODE_MAX]], ranges) : ranges
}

function codeAt(characters: readonly string[], at: number): number {
  const code = characters[at]?.codePointAt(0)
  if (code === undefined) throw badPattern(String.raw`it ends with a \ that escapes nothing`)
  return code
}

function without(ranges: readonly Range[], removed: readonly Range[]): readonly Range[] {
  return removed.reduce<readonly Range[]>(
    (left, [from, to]) =>
      left.flatMap(([first, last]): readonly Range[] => {
        if (to < first || from > last) return [[first, last]]
        const parts: readonly Range[] = [
          [first, from - 1],
          [to + 1, last],
        ]
        return parts.filter(([begin, end]) => begin <= end)
      }),
    ranges,
  )
}

// At the begin of a name no wildcard fits a dot, so a star that stands there and fits nothing hands this on.
function nameSyntax([token, ...rest]: readonly Token[], isFirst: boolean): string {
  if (token === undefined) return ''
  switch (token.type) {
    case 'character':
      return String.raw`\x{${token.code.toString(16)}}${nameSyntax(rest, false)}`
    case 'any':
      return (isFirst ? '[^/.]' : '[^/]') + nameSyntax(rest, false)
    case 'set':
      return setSyntax(without(token.ranges, isFirst ? HIDING : [[SLASH, SLASH]])) + nameSyntax(rest, false)
    case 'star': {
      const after = nameSyntax(rest, false)
      if (!isFirst) return `[^/]*${after}`
      const [next] = rest
      const isDotNext = next?.type === 'character' && next.code === DOT
      if (next === undefined || isDotNext) return VISIBLE + after
      return `(?:${VISIBLE}${after}|${nameSyntax(rest, true)})`
    }
  }
}

const HIDING: readonly Range[] = [[DOT, SLASH]]

function setSyntax(ranges: readonly Range[]): string {
  const text = ranges.map(([first, last]) => String.raw`\x{${first.toString(16)}}-\x{${last.toString(16)}}`)
  // A set with nothing left in it fits no character.
  return text.length === 0 ? String.raw`[^\x{0}-\x{10ffff}]` : `[${text.join('')}]`
}
