import type { ApprovalRequestedFrame } from '../frames/generated/frame.ts'
import { oneLine, safeText, shorten } from './safe-text.ts'

/** What a person answers. */
export type ApprovalAnswer =
  | { readonly kind: 'yes'; readonly remember?: 'call' | 'tool' }
  | { readonly kind: 'no'; readonly why: string }

const ROWS_HEAD = 40
const ROWS_TAIL = 20
const COLUMNS_DEFAULT = 80
const COLUMNS_MIN = 20
const NAME_MAX = 100
const WHY_MAX = 2000

const ONCE = '[y]es [n]o, or say why not: '
const ALWAYS = '[y]es [n]o [a]lways these arguments [t]his tool always, or say why not: '

/**
 * What is put to a person, ready for a terminal of so many columns. Every row of what the call would do begins with a
 * mark, also where a long line goes on: nothing in it can pass for a line of ours. What is too long is cut in the
 * middle, and the row above the question says again how much is not shown.
 */
export function describeQuestion(
  { reason, shown, each_time: isEachTime }: ApprovalRequestedFrame,
  name: string,
  columns: number | undefined,
): string {
  const width = Math.max(columns ?? COLUMNS_DEFAULT, COLUMNS_MIN)
  const lines = safeText(shown).split('\n')
  const rows = lines.flatMap((line) => rowsOf(line, width - MARK.length - 1))
  const { kept, notes } = cutRows(rows)
  const cutBefore = Math.max(...lines.map(charactersCut))
  const closing = cutBefore === 0 ? notes : [...notes, `${cutBefore} characters cut before that`]
  return [
    `needs approval (${shorten(oneLine(reason), NAME_MAX)}): ${shorten(oneLine(name), NAME_MAX)}`,
    ...kept,
    ...(closing.length === 0 ? [] : [`[... not shown: ${closing.join(', ')} ...]`]),
    isEachTime ? ONCE : ALWAYS,
  ].join('\n')
}

interface CutRows {
  readonly kept: readonly string[]
  /** What is left out, in words. */
  readonly notes: readonly string[]
}

function cutRows(rows: readonly string[]): CutRows {
  if (rows.length <= ROWS_HEAD + ROWS_TAIL) return { kept: rows, notes: [] }
  const left = rows.slice(ROWS_HEAD, -ROWS_TAIL)
  const unseen = left.reduce((sum, { length }) => sum + length - MARK.length, 0)
  const note = `${left.length} of ${rows.length} rows with ${unseen} characters`
  const mark = `${MARK}[... not shown: ${note} ...]`
  return { kept: [...rows.slice(0, ROWS_HEAD), mark, ...rows.slice(-ROWS_TAIL)], notes: [note] }
}

// The tool has cut its text already, and our own cut may hide where. A command that only looks like this makes a person
// look twice, which does no harm.
const CUT_MARK = /^\[\.\.\. (?:\d+ lines? with )?(\d{1,9}) characters (?:left out|not shown) \.\.\.\]$/u

function charactersCut(line: string): number {
  return Number(CUT_MARK.exec(line)?.[1] ?? 0)
}

/** What a line that a person typed means. Anything that is no answer is a no, with the line as the reason. */
export function readAnswer(line: string, isEachTime: boolean): ApprovalAnswer {
  const said = line.trim()
  const word = said.toLowerCase()
  if (word === 'y' || word === 'yes') return { kind: 'yes' }
  if (!isEachTime && (word === 'a' || word === 'always')) return { kind: 'yes', remember: 'call' }
  if (!isEachTime && (word === 't' || word === 'tool')) return { kind: 'yes', remember: 'tool' }
  const isBare = word === '' || word === 'n' || word === 'no'
  return { kind: 'no', why: isBare ? 'the user said no' : shorten(said, WHY_MAX) }
}

const MARK = '  | '
const MARK_GOING_ON = '  : '
const TAB = '    '

/** A line as rows of a terminal, each with its mark. */
function rowsOf(line: string, width: number): readonly string[] {
  const rows: string[] = []
  let row = ''
  let column = 0
  for (const character of line.replaceAll('\t', TAB)) {
    // Terminals do not agree on the width of much beyond ASCII: each is given room for the widest.
    const taken = character < '\u007f' ? 1 : 2
    if (column + taken > width) {
      rows.push(row)
      row = ''
      column = 0
    }
    row += character
    column += taken
  }
  rows.push(row)
  return rows.map((text, at) => `${at === 0 ? MARK : MARK_GOING_ON}${text}`)
}
