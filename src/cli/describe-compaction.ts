import type { HistoryCompactedFrame } from '../frames/generated/frame.ts'
import { countOf } from './run-figures.ts'
import { oneLine, shorten } from './safe-text.ts'

const DETAIL_MAX = 200

/** Who made a history shorter, and by how much. */
export function describeCompaction({ cause, figures }: HistoryCompactedFrame): string {
  const { way, tokens_before: before, tokens_after: after, detail } = figures
  if (typeof before !== 'number' || typeof after !== 'number') return `history compacted: ${brief(cause)}`
  const by = typeof way === 'string' ? ` by ${brief(way)}` : ''
  const why = typeof detail === 'string' && detail !== '' ? ` (${brief(detail)})` : ''
  return `history compacted${by}: ${countOf(before, 'token')} before, ${countOf(after, 'token')} after${why}`
}

function brief(text: string): string {
  return shorten(oneLine(text), DETAIL_MAX)
}
