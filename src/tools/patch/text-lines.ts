/** A text file as its lines. Joined again unchanged, it is the same text to the last byte. */
export interface TextLines {
  readonly hasBom: boolean
  /** Without line ends. None for an empty file. */
  readonly lines: readonly string[]
  /** How each line ends. Null for a last line that ends with the file. */
  readonly ends: readonly (LineEnd | null)[]
  /** True for an empty file too: what is added to it is lines. */
  readonly hasFinalNewline: boolean
}

export type LineEnd = '\n' | '\r\n'

const BOM = '\u{FEFF}'

/** Takes a text apart. A lone \r is no line end. */
export function splitText(text: string): TextLines {
  const hasBom = text.startsWith(BOM)
  const pieces = (hasBom ? text.slice(1) : text).split('\n')
  const last = pieces.pop() ?? ''
  const lines = pieces.map((piece) => (piece.endsWith('\r') ? piece.slice(0, -1) : piece))
  const ends: (LineEnd | null)[] = pieces.map((piece) => (piece.endsWith('\r') ? '\r\n' : '\n'))
  if (last !== '') {
    lines.push(last)
    ends.push(null)
  }
  return { hasBom, lines, ends, hasFinalNewline: last === '' }
}

/** Puts a text together. A line without an end that is no longer the last one ends as most of the others do. */
export function joinText({ hasBom, lines, ends, hasFinalNewline }: TextLines): string {
  const usual = usualEnd(ends) ?? '\n'
  const last = lines.length - 1
  const parts = lines.map((line, at) => {
    return at === last && !hasFinalNewline ? line : `${line}${ends[at] ?? usual}`
  })
  return `${hasBom ? BOM : ''}${parts.join('')}`
}

/** The line end that most have; null when neither has more. */
export function usualEnd(ends: readonly (LineEnd | null)[]): LineEnd | null {
  let lead = 0
  for (const end of ends) {
    if (end === '\r\n') lead += 1
    else if (end === '\n') lead -= 1
  }
  if (lead === 0) return null
  return lead > 0 ? '\r\n' : '\n'
}
