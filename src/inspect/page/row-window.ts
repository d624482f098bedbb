// Rows above and below what is seen, so that a scroll shows rows before the next drawing.
const SPARE_ROWS = 4

/** The rows that a list has to draw: from `first` up to but without `end`. */
export function rowsInView(
  topPixels: number,
  heightPixels: number,
  rowHeight: number,
  count: number,
): { readonly first: number; readonly end: number } {
  const first = Math.max(0, Math.min(count, Math.floor(topPixels / rowHeight)) - SPARE_ROWS)
  const end = Math.min(count, Math.ceil((topPixels + heightPixels) / rowHeight) + SPARE_ROWS)
  return { first: Math.min(first, end), end }
}

/**
 * Where a list must be scrolled to for a row to be seen whole; where it is, when the row is seen already. A row that
 * is next to what is seen moves the list by a row, one that is far away comes to the middle.
 */
export function scrollToShow(
  row: number,
  rowHeight: number,
  topPixels: number,
  heightPixels: number,
): number {
  const rowTop = row * rowHeight
  const above = topPixels - rowTop
  const below = rowTop + rowHeight - (topPixels + heightPixels)
  if (above <= 0 && below <= 0) return topPixels
  if (Math.max(above, below) > 2 * rowHeight)
    return Math.max(0, rowTop - Math.floor((heightPixels - rowHeight) / 2))
  return above > 0 ? rowTop : topPixels + below
}

/** The row that a key of a list leads to; null for a key that is none. */
export function indexAfterKey(key: string, at: number, count: number, pageRows: number): number | null {
  if (count === 0) return null
  const clamp = (index: number): number => Math.max(0, Math.min(count - 1, index))
  switch (key) {
    case 'ArrowDown':
      return clamp(at + 1)
    case 'ArrowUp':
      return clamp(at - 1)
    case 'PageDown':
      return clamp(at + Math.max(1, pageRows - 1))
    case 'PageUp':
      return clamp(at - Math.max(1, pageRows - 1))
    case 'Home':
      return 0
    case 'End':
      return count - 1
    default:
      return null
  }
}
