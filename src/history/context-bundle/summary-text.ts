import type { BundleSummaryRef } from './context-bundle.ts'

/** What a model reads where a bundle refers to a summary: a fixed heading, the note if there is one, the summary. */
export function summaryText({ note }: BundleSummaryRef, summary: string): string {
  const heading = 'Summary of the earlier conversation:'
  return [heading, ...(typeof note === 'string' ? [note] : []), summary].join('\n')
}
