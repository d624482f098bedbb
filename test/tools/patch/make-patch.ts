import { applyHunks } from '../../../src/tools/patch/apply-hunks.ts'
import { parsePatch } from '../../../src/tools/patch/parse-patch.ts'
import { splitText, type LineEnd } from '../../../src/tools/patch/text-lines.ts'

/** Files by path; null: not there. */
export type Files = Readonly<Record<string, string | null>>

const CONTEXT = 3
const NO_NEWLINE = '\\ No newline at end of file'

/** The patch that makes one set of files of another. Files that are alike are left out; null when all are. */
export function makePatch(before: Files, after: Files): string | null {
  const sections: string[] = []
  for (const [path, next] of Object.entries(after)) {
    const old = before[path] ?? null
    if (next === old) continue
    if (next === null) sections.push(`*** Delete File: ${path}`)
    else if (old === null) sections.push(`*** Add File: ${path}${addedLines(next)}`)
    else sections.push(`*** Update File: ${path}\n${makeHunks(old, next)}`)
  }
  return sections.length === 0 ? null : `*** Begin Patch\n${sections.join('\n')}\n*** End Patch`
}

function addedLines(text: string): string {
  const lines = text.match(/[^\n]*\n|[^\n]+$/g) ?? []
  const rows = lines.map((line) => `\n+${line.endsWith('\n') ? line.slice(0, -1) : written(line)}`)
  return rows.join('') + (text === '' || text.endsWith('\n') ? '' : `\n${NO_NEWLINE}`)
}

// The last \r of a line of a patch belongs to its line end.
function written(line: string, end: LineEnd | null = null): string {
  return line.endsWith('\r') || end === '\r\n' ? `${line}\r` : line
}

interface Row {
  readonly mark: ' ' | '-' | '+'
  readonly text: string
  readonly end: LineEnd | null
}

/** With three lines of context, or with more where that fits at two places. */
function makeHunks(old: string, next: string): string {
  const from = splitText(old)
  const to = splitText(next)
  const isEndChanged = from.hasFinalNewline !== to.hasFinalNewline && to.lines.length > 0
  const rows = difference(from.lines, to.lines, to.ends)
  for (let context = CONTEXT; ; context *= 2) {
    const groups = groupRows(rows, context, isEndChanged)
    const body = groups
      .map((group) => writeHunk(group, rows.length, isEndChanged, from.hasFinalNewline))
      .join('\n')
    const isWhole = groups.every(({ begin, end }) => begin === 0 && end === rows.length)
    if (isWhole || fits(old, body)) return body
  }
}

function fits(old: string, body: string): boolean {
  const [section] = parsePatch(`*** Begin Patch\n*** Update File: f\n${body}\n*** End Patch`).sections
  if (section?.kind !== 'update') return false
  try {
    applyHunks('f', old, section.hunks)
    return true
  } catch {
    return false
  }
}

// The longest common subsequence, by the table.
function difference(
  old: readonly string[],
  next: readonly string[],
  ends: readonly (LineEnd | null)[],
): readonly Row[] {
  const table = Array.from({ length: old.length + 1 }, () => new Uint32Array(next.length + 1))
  const at = (i: number, j: number): number => table[i]?.[j] ?? 0
  for (let i = old.length - 1; i >= 0; i -= 1) {
    for (let j = next.length - 1; j >= 0; j -= 1) {
      const length = old[i] === next[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
      table[i]?.fill(length, j, j + 1)
    }
  }
  const rows: Row[] = []
  for (let i = 0, j = 0; i < old.length || j < next.length;) {
    const gone = old[i]
    const come = next[j]
    if (gone !== undefined && gone === come) {
      rows.push({ mark: ' ', text: gone, end: ends[j] ?? null })
      i += 1
      j += 1
    } else if (gone !== undefined && (come === undefined || at(i + 1, j) >= at(i, j + 1))) {
      rows.push({ mark: '-', text: gone, end: null })
      i += 1
    } else if (come !== undefined) {
      rows.push({ mark: '+', text: come, end: ends[j] ?? null })
      j += 1
    }
  }
  return rows
}

interface Group {
  readonly rows: readonly Row[]
  readonly begin: number
  readonly end: number
}

function groupRows(rows: readonly Row[], context: number, isEndChanged: boolean): readonly Group[] {
  const changed = rows.flatMap(({ mark }, at) => (mark === ' ' ? [] : [at]))
  if (isEndChanged) changed.push(rows.length - 1)
  const spans: { begin: number; end: number }[] = []
  for (const at of changed) {
    const begin = Math.max(0, at - context)
    const end = Math.min(rows.length, at + context + 1)
    const last = spans.at(-1)
    if (last !== undefined && begin <= last.end) last.end = Math.max(last.end, end)
    else spans.push({ begin, end })
  }
  return spans.map(({ begin, end }) => ({ rows: rows.slice(begin, end), begin, end }))
}

function writeHunk(group: Group, total: number, isEndChanged: boolean, hadNewline: boolean): string {
  const isLast = group.end === total
  if (!isLast || !isEndChanged) {
    const rows = group.rows.map(({ mark, text, end }) => `${mark}${written(text, end)}`)
    return ['@@', ...rows, ...(isLast ? ['*** End of File'] : [])].join('\n')
  }
  // The last line of each side is written as one that goes and one that comes, since its end changes.
  const split = group.rows.flatMap((row, at): readonly Row[] =>
    row.mark === ' ' && group.rows.slice(at + 1).every(({ mark }) => mark !== ' ')
      ? [
          { ...row, mark: '-' },
          { ...row, mark: '+' },
        ]
      : [row],
  )
  const lastOf = (mark: string): number => split.findLastIndex((row) => row.mark === mark)
  const marked = hadNewline ? lastOf('+') : lastOf('-')
  const rows = split.flatMap(({ mark, text, end }, at) => [
    `${mark}${written(text, end)}`,
    ...(at === marked ? [NO_NEWLINE] : []),
  ])
  return ['@@', ...rows].join('\n')
}
