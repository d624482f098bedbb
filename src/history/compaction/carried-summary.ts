import type { AnyItem } from '../../protocol/items.ts'
import { ERRORS_HEADING, SUMMARY_HEADING } from '../tool-history/summarize-calls.ts'
import { messageText } from './item-text.ts'
import { readSummaryMessage } from './summary-message.ts'

/** What an earlier summary says, line by line. */
export interface CarriedSummary {
  readonly lines: readonly string[]
  readonly errors: readonly string[]
  /** How many lines and errors it left out itself. */
  readonly linesLeftOut: number
  readonly errorsLeftOut: number
}

/** How many things were left out, as a line of a summary; none when it is 0. */
export function leftOutLine(count: number): readonly string[] {
  return count === 0 ? [] : [`- (+${count} earlier)`]
}

/** Takes a summary apart that an item carries: of a compaction, of a bundle, or of old calls. Null when it has none. */
export function carriedSummary(item: AnyItem): CarriedSummary | null {
  const text = readSummaryMessage(item) ?? callSummary(item)
  if (text === null) return null
  // Everything behind the heading is errors: it is the last part of every summary that has it.
  const at = `\n${text}`.indexOf(`\n${ERRORS_HEADING}\n`)
  const told = readEntries(at < 0 ? text : text.slice(0, at))
  const failed = readEntries(at < 0 ? '' : text.slice(at + ERRORS_HEADING.length))
  return {
    lines: told.entries,
    errors: failed.entries,
    linesLeftOut: told.leftOut,
    errorsLeftOut: failed.leftOut,
  }
}

function callSummary(item: AnyItem): string | null {
  if (item.type !== 'message' || item['role'] !== 'user') return null
  const text = messageText(item)
  return text.startsWith(`${SUMMARY_HEADING}\n`) ? text : null
}

/** Entries of a list, whose text may have several lines; a line that belongs to none is an entry of its own. */
function readEntries(text: string): { readonly entries: readonly string[]; readonly leftOut: number } {
  const entries: string[] = []
  let leftOut = 0
  for (const line of text.split('\n')) {
    const left = /^- \(\+(\d+) earlier\)$/u.exec(line)
    const before = entries.at(-1)
    if (left !== null) leftOut += Number(left[1])
    else if (line.trim() === '' || line === SUMMARY_HEADING) continue
    else if (before?.startsWith('- ') === true && !line.startsWith('- '))
      entries[entries.length - 1] = `${before}\n${line}`
    else entries.push(line)
  }
  return { entries, leftOut }
}
