/**
 * The first position from `at` on at which a character begins, or the end. What is not UTF-8 is divided as a decoder
 * divides it, one U+FFFD each: texts that are cut here and decoded apart add up to the text decoded whole.
 */
export function nextBoundary(bytes: Uint8Array, at: number): number {
  const end = Math.min(at, bytes.length)
  for (let back = 1; back <= 3 && end - back >= 0; back += 1) {
    const first = end - back
    if (isContinuation(bytes[first])) continue
    return Math.max(end, first + unitLength(bytes, first))
  }
  return end
}

/** Where the last character ends that is all there, when these bytes were cut from longer ones. */
export function lastWhole(bytes: Uint8Array): number {
  for (let back = 1; back <= 3 && bytes.length - back >= 0; back += 1) {
    const first = bytes.length - back
    if (isContinuation(bytes[first])) continue
    const isCut = unitLength(bytes, first) === back && back < sequenceLength(bytes[first] ?? 0)
    return isCut ? first : bytes.length
  }
  return bytes.length
}

/** Where the first character begins that is all there, when these bytes were cut from longer ones. */
export function firstWhole(bytes: Uint8Array): number {
  let at = 0
  while (at < 3 && isContinuation(bytes[at])) at += 1
  return at
}

/** How many bytes become one character: a whole sequence, or as much of one as is right. */
function unitLength(bytes: Uint8Array, at: number): number {
  const lead = bytes[at] ?? 0
  const wanted = sequenceLength(lead)
  if (wanted === 1) return 1
  if (!isSecond(lead, bytes[at + 1])) return 1
  let length = 2
  while (length < wanted && isContinuation(bytes[at + length])) length += 1
  return length
}

function sequenceLength(lead: number): number {
  if (lead >= 0xc2 && lead <= 0xdf) return 2
  if (lead >= 0xe0 && lead <= 0xef) return 3
  return lead >= 0xf0 && lead <= 0xf4 ? 4 : 1
}

// Unicode, table 3-7: after four leads, the second byte has a smaller range (no surrogates, nothing too long).
function isSecond(lead: number, second: number | undefined): boolean {
  if (second === undefined || !isContinuation(second)) return false
  if (lead === 0xe0) return second >= 0xa0
  if (lead === 0xed) return second <= 0x9f
  if (lead === 0xf0) return second >= 0x90
  return lead !== 0xf4 || second <= 0x8f
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80
}
