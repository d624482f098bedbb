/** How many entries of an ascending list are at most `value`: the index behind the last of them. */
export function countUpTo(ascending: readonly number[], value: number): number {
  let low = 0
  let high = ascending.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((ascending[middle] ?? Infinity) <= value) low = middle + 1
    else high = middle
  }
  return low
}

/** The first entry of an ascending list above `value`; null when there is none. */
export function nextAfter(ascending: readonly number[], value: number): number | null {
  return ascending[countUpTo(ascending, value)] ?? null
}

/** The last entry of an ascending list below `value`; null when there is none. */
export function lastBefore(ascending: readonly number[], value: number): number | null {
  return ascending[countUpTo(ascending, value - 1) - 1] ?? null
}
