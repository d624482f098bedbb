/**
 * Compares texts by their code points, as `sort` does with bytes of UTF-8. The plain comparison of JavaScript puts
 * characters beyond U+FFFF before some that come first.
 */
export function byCodePoint(left: string, right: string): number {
  const length = Math.min(left.length, right.length)
  for (let at = 0; at < length; at += 1) {
    const difference = rankOf(left.charCodeAt(at)) - rankOf(right.charCodeAt(at))
    if (difference !== 0) return difference
  }
  return left.length - right.length
}

// Halves of pairs stand for characters beyond all others.
function rankOf(unit: number): number {
  return (unit & 0xf8_00) === 0xd8_00 ? unit + 0x1_00_00 : unit
}
