/** How many of these records, in the order of their frames, a reader at frame `at` has seen, by binary search. */
export function countSeen(records: readonly { readonly seq: number }[], at: number): number {
  let low = 0
  let high = records.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((records[middle]?.seq ?? Infinity) <= at) low = middle + 1
    else high = middle
  }
  return low
}

/** The last of these records that a reader at frame `at` has seen; null: none. */
export function lastSeen<T extends { readonly seq: number }>(records: readonly T[], at: number): T | null {
  return records[countSeen(records, at) - 1] ?? null
}
