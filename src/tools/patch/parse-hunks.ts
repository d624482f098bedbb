import type { Hunk, HunkLine } from './patch.ts'
import { expected, type PatchReader } from './patch-reader.ts'

const END_OF_FILE = '*** End of File'

const KINDS: Readonly<Record<string, HunkLine['kind']>> = { ' ': 'context', '-': 'remove', '+': 'add' }

/** Reads the hunks of one file, up to the next section. Only the first one may lack its `@@`. */
export function parseHunks(reader: PatchReader): readonly Hunk[] {
  const hunks: Hunk[] = []
  for (let next = reader.peek(); next !== null && isOfHunk(next); next = reader.peek()) {
    if (hunks.at(-1)?.isAtEnd === true) {
      throw expected(reader, 'no more lines of this file, since the hunk before is at its end')
    }
    hunks.push(parseHunk(reader))
  }
  return hunks
}

function isOfHunk(line: string): boolean {
  return !line.startsWith('*** ') || line === END_OF_FILE
}

function parseHunk(reader: PatchReader): Hunk {
  const { line } = reader
  const headers = takeHeaders(reader)
  const lines: HunkLine[] = []
  const marks: Marks = { old: null, new: null }
  for (let next = reader.peek(); next !== null && isBody(next); next = reader.peek()) {
    if (lines.length > 0 && reader.takeNoNewline()) markEnd(marks, lines)
    else lines.push(takeLine(reader, next))
  }
  if (lines.length === 0) throw expected(reader, 'a line of a hunk, with a space, - or + in front')
  if (lines.every(({ kind }) => kind === 'context')) {
    throw reader.invalid('the hunk has no line with - or + in front, so it changes nothing', line)
  }
  const finalNewline = finalNewlineOf(reader, marks, lines)
  const hasMarker = reader.peek() === END_OF_FILE
  if (hasMarker) reader.take()
  return { line, headers, lines, isAtEnd: hasMarker || finalNewline !== null, finalNewline }
}

function isBody(line: string): boolean {
  return !line.startsWith('*** ') && !line.startsWith('@@')
}

function takeHeaders(reader: PatchReader): readonly string[] {
  const headers: string[] = []
  for (let next = reader.peek(); next?.startsWith('@@') === true; next = reader.peek()) {
    const header = next.slice(3)
    if (/^-\d+(?:,\d+)? \+\d+(?:,\d+)? @@/.test(header)) {
      throw expected(reader, '@@ alone or @@ and a whole line of the file, without line numbers')
    }
    if (next.length > 2 && next[2] !== ' ')
      throw expected(reader, '@@ alone or @@, a space and a line of the file')
    if (header.trim() !== '') headers.push(header)
    reader.take()
  }
  return headers
}

function takeLine(reader: PatchReader, next: string): HunkLine {
  // Models drop the space in front of an empty line.
  const kind = next === '' ? 'context' : KINDS[next.charAt(0)]
  if (kind === undefined) throw expected(reader, 'a line of a hunk, with a space, - or + in front')
  const end = reader.lineEnd()
  reader.take()
  return { kind, text: next.slice(1), end }
}

/** How many lines the hunk had when a side was said to end without a newline. */
interface Marks {
  old: number | null
  new: number | null
}

function markEnd(marks: Marks, lines: readonly HunkLine[]): void {
  const kind = lines.at(-1)?.kind
  if (kind !== 'add') marks.old = lines.length
  if (kind !== 'remove') marks.new = lines.length
}

function finalNewlineOf(
  reader: PatchReader,
  marks: Readonly<Marks>,
  lines: readonly HunkLine[],
): Hunk['finalNewline'] {
  if (marks.old === null && marks.new === null) return null
  const isLastOld = marks.old === null || lines.slice(marks.old).every(({ kind }) => kind === 'add')
  const isLastNew = marks.new === null || lines.slice(marks.new).every(({ kind }) => kind === 'remove')
  if (!isLastOld || !isLastNew) {
    throw reader.invalid(
      'in this hunk a line follows one that is marked as the end of the file',
      reader.line - 1,
    )
  }
  return { old: marks.old === null, new: marks.new === null }
}
