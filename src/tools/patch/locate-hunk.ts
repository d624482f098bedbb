import { describeDifference, describeLine } from './describe-difference.ts'
import { findLines, type LineIndex } from './find-lines.ts'
import type { Hunk } from './patch.ts'

/** Where the old lines of a hunk are: the index of the first. Or why that cannot be told. */
export type HunkPlace =
  | { readonly ok: true; readonly place: number }
  | { readonly ok: false; readonly reason: string }

/** A file as hunks are looked for in it. */
export interface SearchedFile {
  readonly lines: readonly string[]
  readonly index: LineIndex
}

/**
 * Finds the one place where a hunk fits: its old lines, all of them and exactly, from the line `from` on. When the
 * hunk has `@@` lines, each is looked for below the one before it, and the old lines below the last. Whatever could
 * be meant in two ways is not guessed.
 */
export function locateHunk(file: SearchedFile, hunk: Hunk, from: number): HunkPlace {
  const old = hunk.lines.filter(({ kind }) => kind !== 'add').map(({ text }) => text)
  const steps: (readonly number[])[] = []
  for (const header of hunk.headers) steps.push(findLines(file.index, [header], from).places)
  const start = follow(steps, 0)
  if (start === null) return refused(missingHeader(file, hunk.headers, steps, from))
  const begin = steps.length === 0 ? from : start + 1
  if (hunk.isAtEnd) return placeAtEnd(file, old, begin)
  if (old.length === 0) return placeOfAdded(file, begin)
  const found = findLines(file.index, old, begin)
  const [place] = found.places
  if (place === undefined) return refused(missingLines(file, old, begin, found.closest))
  const other = steps.length === 0 ? found.places[1] : otherPlace([...steps, found.places], place)
  return other === undefined ? { ok: true, place } : refused(ambiguous(place, other, steps.length > 0))
}

function refused(reason: string): HunkPlace {
  return { ok: false, reason }
}

/** The line that the last step leads to, from the occurrence of the first step at or after `from`; -1 without steps. */
function follow(steps: readonly (readonly number[])[], from: number): number | null {
  let at = from - 1
  for (const places of steps) {
    const after = at
    const next = places.find((place) => place > after)
    if (next === undefined) return null
    at = next
  }
  return at
}

/**
 * Where the last way through the steps ends, when that is not `place`. A later begin never ends earlier, so when
 * the first and the last way end alike, all do.
 */
function otherPlace(steps: readonly (readonly number[])[], place: number): number | undefined {
  let before = Infinity
  for (const places of steps.toReversed()) {
    const limit = before
    before = places.findLast((each) => each < limit) ?? -1
  }
  const other = follow(steps, before)
  return other === null || other === place ? undefined : other
}

function placeAtEnd({ lines }: SearchedFile, old: readonly string[], from: number): HunkPlace {
  const place = lines.length - old.length
  if (place < from) {
    const left = Math.max(0, lines.length - from)
    return refused(
      `it has ${old.length} old lines at the end of the file, but only ${left} lines are left there`,
    )
  }
  const wrong = old.findIndex((text, at) => text !== lines[place + at])
  if (wrong === -1) return { ok: true, place }
  return refused(
    `its old lines are not the last lines of the file: ${differenceAt(lines, place + wrong, old[wrong] ?? '')}`,
  )
}

function placeOfAdded({ lines }: SearchedFile, from: number): HunkPlace {
  if (lines.length === 0 && from === 0) return { ok: true, place: 0 }
  return refused(
    'it has only added lines, so its place is not known; add a context line, or *** End of File to append',
  )
}

function missingHeader(
  file: SearchedFile,
  headers: readonly string[],
  steps: readonly (readonly number[])[],
  from: number,
): string {
  // The first one up to which there is no way.
  const missing = steps.findIndex((_, at) => follow(steps.slice(0, at + 1), 0) === null)
  const header = headers[missing] ?? ''
  const above = follow(steps.slice(0, missing), 0) ?? -1
  const begin = missing === 0 ? from : above + 1
  return `no line${after(begin)} is the @@ context ${describeLine(header)}${hint(file, header, begin)}`
}

function missingLines(
  file: SearchedFile,
  old: readonly string[],
  from: number,
  { place, agreeing }: { readonly place: number; readonly agreeing: number },
): string {
  const [earlier] = from === 0 ? [] : findLines(file.index, old, 0).places
  if (earlier !== undefined) {
    return `its old lines are at line ${earlier + 1}, but they must come after line ${from}: the hunks of a file go from top to bottom`
  }
  const wanted = old[agreeing] ?? ''
  if (agreeing === 0) {
    return `no line${after(from)} is its first old line ${describeLine(wanted)}${hint(file, wanted, from)}`
  }
  return `its old lines are not in the file; the closest place begins at line ${place + 1}: ${differenceAt(file.lines, place + agreeing, wanted)}`
}

function ambiguous(place: number, other: number, hasHeaders: boolean): string {
  const way = hasHeaders
    ? 'put one more @@ line above, or more context lines'
    : 'add an @@ line or more context lines'
  return `its old lines fit at line ${place + 1} and at line ${other + 1}; ${way} to say which`
}

function differenceAt(lines: readonly string[], at: number, wanted: string): string {
  const actual = lines[at]
  if (actual !== undefined) return `line ${at + 1}: ${describeDifference(wanted, actual)}`
  return `expected ${describeLine(wanted)}, but the file ends after line ${at}`
}

function after(from: number): string {
  return from === 0 ? '' : ` after line ${from}`
}

function hint({ lines }: SearchedFile, wanted: string, from: number): string {
  const earlier = lines.indexOf(wanted)
  if (earlier !== -1 && earlier < from) {
    return `; line ${earlier + 1} is, but the hunks of a file go from top to bottom`
  }
  const bare = withoutSpace(wanted)
  const alike = bare === '' ? -1 : lines.findIndex((line, at) => at >= from && withoutSpace(line) === bare)
  return alike === -1 ? '' : `; line ${alike + 1} differs from it only in white space`
}

function withoutSpace(text: string): string {
  return text.replaceAll(/\s+/g, '')
}
