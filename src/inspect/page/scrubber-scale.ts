/** The place of a frame on the scrubber, from 0 to 1. */
export function shareOf(seq: number, last: number): number {
  return last <= 0 ? 0 : clamp(seq / last, 0, 1)
}

/** The frame at a place of the scrubber, from 0 to 1; what is outside counts as its nearer end. */
export function seqAtShare(share: number, last: number): number {
  return last <= 0 ? Math.max(0, last) : Math.round(clamp(share, 0, 1) * last)
}

/** Where marks are drawn: whole pixels from the left, each once, however many marks fall on it. */
export function markColumns(
  ascending: readonly number[],
  last: number,
  widthPixels: number,
): readonly number[] {
  const columns: number[] = []
  for (const seq of ascending) {
    const column = Math.round(shareOf(seq, last) * Math.max(0, widthPixels - 1))
    if (column !== columns.at(-1)) columns.push(column)
  }
  return columns
}

const PAGE_SHARE = 0.05
const PAGE_FRAMES_MIN = 10

/** Where a key of a slider leads; null for a key that is none. */
export function seqAfterKey(key: string, at: number, last: number): number | null {
  const page = Math.max(PAGE_FRAMES_MIN, Math.round(last * PAGE_SHARE))
  switch (key) {
    case 'ArrowRight':
    case 'ArrowUp':
      return clamp(at + 1, 0, last)
    case 'ArrowLeft':
    case 'ArrowDown':
      return clamp(at - 1, 0, last)
    case 'PageUp':
      return clamp(at + page, 0, last)
    case 'PageDown':
      return clamp(at - page, 0, last)
    case 'Home':
      return 0
    case 'End':
      return Math.max(0, last)
    default:
      return null
  }
}

function clamp(value: number, least: number, most: number): number {
  return Math.max(least, Math.min(most, value))
}
