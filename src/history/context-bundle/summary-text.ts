import type { BundleSummaryRef } from './context-bundle.ts'

const HEADING = 'Summary of the earlier conversation:'

/** What a model reads where a bundle refers to a summary: a fixed heading, the note if there is one, the summary. */
export function summaryText({ note }: Pick<BundleSummaryRef, 'note'>, summary: string): string {
  return [HEADING, ...(typeof note === 'string' ? [note] : []), summary].join('\n')
}

/** The note of a summary that stands for these entries. */
export function coverNote(fromSeq: number, toSeq: number): string {
  return `covers entries ${fromSeq} to ${toSeq}`
}

/** The summary in a text that `summaryText` made, without a note about entries; null when it made no such text. */
export function readSummaryText(text: string): string | null {
  if (!text.startsWith(`${HEADING}\n`)) return null
  return text.slice(HEADING.length + 1).replace(/^covers entries \d+ to \d+\n/u, '')
}
