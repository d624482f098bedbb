const CONTEXT_LINES = 3
// Above this, what differs is shown as removed and added as a whole: a person would not read it line by line.
const CELLS_MAX = 1_000_000

type Mark = ' ' | '-' | '+'

interface DiffLine {
  readonly mark: Mark
  readonly text: string
}

/** The difference of two texts as hunks of a unified diff; empty when there is none. */
export function unifiedDiff(before: string, after: string): string {
  const lines = compareLines(linesOf(before), linesOf(after))
  return hunksOf(lines)
    .map(({ begin, end }) => hunkText(lines, begin, end))
    .join('')
}

function linesOf(text: string): readonly string[] {
  return text.match(/[^\n]*\n|[^\n]+$/gu) ?? []
}

function compareLines(before: readonly string[], after: readonly string[]): readonly DiffLine[] {
  const shared = Math.min(before.length, after.length)
  let head = 0
  while (head < shared && before[head] === after[head]) head += 1
  let tail = 0
  while (tail < shared - head && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1
  return [
    ...marked(' ', before.slice(0, head)),
    ...compareMiddle(before.slice(head, before.length - tail), after.slice(head, after.length - tail)),
    ...marked(' ', before.slice(before.length - tail)),
  ]
}

function marked(mark: Mark, lines: readonly string[]): readonly DiffLine[] {
  return lines.map((text) => ({ mark, text }))
}

function compareMiddle(before: readonly string[], after: readonly string[]): readonly DiffLine[] {
  if (before.length * after.length > CELLS_MAX) return [...marked('-', before), ...marked('+', after)]
  const width = after.length + 1
  const common = commonLengths(before, after)
  const lines: DiffLine[] = []
  let at = 0
  let to = 0
  while (at < before.length || to < after.length) {
    const old = before[at]
    const now = after[to]
    if (old !== undefined && old === now) {
      lines.push({ mark: ' ', text: old })
      at += 1
      to += 1
    } else if (
      old !== undefined &&
      (now === undefined || lengthAt(common, (at + 1) * width + to) >= lengthAt(common, at * width + to + 1))
    ) {
      lines.push({ mark: '-', text: old })
      at += 1
    } else if (now !== undefined) {
      lines.push({ mark: '+', text: now })
      to += 1
    }
  }
  return lines
}

/** For every pair of places, how many lines the rests of both texts have in common, in order. */
function commonLengths(before: readonly string[], after: readonly string[]): Uint32Array {
  const width = after.length + 1
  const lengths = new Uint32Array((before.length + 1) * width)
  for (let at = before.length - 1; at >= 0; at -= 1) {
    for (let to = after.length - 1; to >= 0; to -= 1) {
      const cell = at * width + to
      lengths[cell] =
        before[at] === after[to]
          ? lengthAt(lengths, cell + width + 1) + 1
          : Math.max(lengthAt(lengths, cell + width), lengthAt(lengths, cell + 1))
    }
  }
  return lengths
}

function lengthAt(lengths: Uint32Array, cell: number): number {
  return lengths[cell] ?? 0
}

interface Span {
  readonly begin: number
  readonly end: number
}

function hunksOf(lines: readonly DiffLine[]): readonly Span[] {
  const spans: Span[] = []
  for (const [index, { mark }] of lines.entries()) {
    if (mark === ' ') continue
    const begin = Math.max(0, index - CONTEXT_LINES)
    const end = Math.min(lines.length, index + 1 + CONTEXT_LINES)
    const last = spans.at(-1)
    if (last !== undefined && begin <= last.end) spans[spans.length - 1] = { begin: last.begin, end }
    else spans.push({ begin, end })
  }
  return spans
}

function hunkText(lines: readonly DiffLine[], begin: number, end: number): string {
  const shown = lines.slice(begin, end)
  const head = `@@ -${rangeOf(lines, begin, shown, '+')} +${rangeOf(lines, begin, shown, '-')} @@\n`
  return head + shown.map(({ mark, text }) => mark + withEnd(text)).join('')
}

function rangeOf(lines: readonly DiffLine[], begin: number, shown: readonly DiffLine[], other: Mark): string {
  const count = shown.filter(({ mark }) => mark !== other).length
  const before = lines.slice(0, begin).filter(({ mark }) => mark !== other).length
  return `${count === 0 ? before : before + 1},${count}`
}

function withEnd(text: string): string {
  return text.endsWith('\n') ? text : `${text}\n\\ No newline at end of file\n`
}
