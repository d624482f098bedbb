/** Code points from the first to the second, both included. */
export type CodePointRange = readonly [first: number, last: number]

/** Ranges in order, none touching another; without surrogates, which no text of a file has. */
export type CodePointSet = readonly CodePointRange[]

const CODE_POINT_MAX = 0x10_ff_ff
const SURROGATES: CodePointRange = [0xd8_00, 0xdf_ff]

/** The set of these ranges, which may come in any order and overlap. */
export function codePointSet(ranges: readonly CodePointRange[]): CodePointSet {
  const merged: [number, number][] = []
  for (const [first, last] of inOrder(ranges)) {
    const before = merged.at(-1)
    if (before !== undefined && first <= before[1] + 1) before[1] = Math.max(before[1], last)
    else merged.push([first, last])
  }
  return merged.flatMap((range) => withoutSurrogates(range))
}

/** Everything that is not in the set. */
export function complement(set: CodePointSet): CodePointSet {
  const gaps: CodePointRange[] = []
  let next = 0
  for (const [first, last] of inOrder([...set, SURROGATES])) {
    if (first > next) gaps.push([next, first - 1])
    next = Math.max(next, last + 1)
  }
  if (next <= CODE_POINT_MAX) gaps.push([next, CODE_POINT_MAX])
  return codePointSet(gaps)
}

/** The set without one code point. */
export function without(set: CodePointSet, codePoint: number): CodePointSet {
  return complement(codePointSet([...complement(set), [codePoint, codePoint]]))
}

function inOrder(ranges: readonly CodePointRange[]): readonly CodePointRange[] {
  return [...ranges].sort((a, b) => a[0] - b[0])
}

function withoutSurrogates([first, last]: CodePointRange): readonly CodePointRange[] {
  const [low, high] = SURROGATES
  if (last < low || first > high) return [[first, last]]
  const parts: CodePointRange[] = []
  if (first < low) parts.push([first, low - 1])
  if (last > high) parts.push([high + 1, last])
  return parts
}
