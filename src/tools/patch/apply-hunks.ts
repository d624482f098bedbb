import { LoopchartError } from '../../errors.ts'
import { indexLines } from './find-lines.ts'
import { locateHunk } from './locate-hunk.ts'
import type { Hunk } from './patch.ts'
import { joinText, splitText, usualEnd, type LineEnd, type TextLines } from './text-lines.ts'

// Each hunk and each of its @@ lines is one look through the file; this many lines are looked at in about a second.
const LINES_SEARCHED_MAX = 200_000_000

/**
 * The text with its hunks applied, in their order. Lines are compared without their line ends, and apart from that
 * exactly. Throws `patch_conflict` with the path, the hunk and the first line that differs when one does not fit, or
 * fits at two places.
 */
export function applyHunks(path: string, oldText: string, hunks: readonly Hunk[]): string {
  const file = splitText(oldText)
  checkWork(path, file, hunks)
  const searched = { lines: file.lines, index: indexLines(file.lines) }
  const lines: string[] = []
  const ends: (LineEnd | null)[] = []
  const usual = usualEnd(file.ends)
  let { hasFinalNewline } = file
  let from = 0
  const keep = (to: number, end: LineEnd | null): void => {
    for (; from < to; from += 1) {
      lines.push(file.lines[from] ?? '')
      ends.push(file.ends[from] ?? end)
    }
  }
  for (const [at, hunk] of hunks.entries()) {
    const found = locateHunk(searched, hunk, from)
    if (!found.ok) throw conflict(path, hunk, at, found.reason)
    keep(found.place, usual)
    const oldCount = hunk.lines.filter(({ kind }) => kind !== 'add').length
    // What is around an added line says more about how it should end than the rest of the file.
    const added = usualEnd(file.ends.slice(from, from + oldCount)) ?? usual
    for (const { kind, text, end } of hunk.lines) {
      if (kind === 'context') keep(from + 1, usual ?? end)
      else if (kind === 'remove') from += 1
      else {
        lines.push(text)
        ends.push(added ?? end)
      }
    }
    if (hunk.finalNewline !== null) {
      checkFinalNewline(path, file, hunk, at, oldCount)
      hasFinalNewline = hunk.finalNewline.new
    }
  }
  keep(file.lines.length, usual)
  return joinText({ hasBom: file.hasBom, lines, ends, hasFinalNewline })
}

function checkWork(path: string, { lines }: TextLines, hunks: readonly Hunk[]): void {
  const looks = hunks.reduce((sum, { headers }) => sum + 1 + headers.length, 0)
  if (looks * lines.length <= LINES_SEARCHED_MAX) return
  const message = `${path} has ${lines.length} lines, too many for ${hunks.length} hunks at once: split the patch`
  throw new LoopchartError('patch_conflict', message)
}

function checkFinalNewline(path: string, file: TextLines, hunk: Hunk, at: number, oldCount: number): void {
  // A hunk without old lines says nothing about how the file ended.
  if (oldCount === 0 || hunk.finalNewline?.old === file.hasFinalNewline) return
  const reason = file.hasFinalNewline
    ? 'it says that the old file has no newline at its end, but it has one'
    : 'it says that the old file has a newline at its end, but it has none'
  throw conflict(path, hunk, at, reason)
}

function conflict(path: string, hunk: Hunk, at: number, reason: string): LoopchartError {
  return new LoopchartError('patch_conflict', `${path}, hunk ${at + 1} (patch line ${hunk.line}): ${reason}`)
}
