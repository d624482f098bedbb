/** A text said by another: literal text, or a range of the other one. */
export type Delta = readonly (string | readonly [from: number, to: number])[]

// Shorter pieces cost more as a range than as text.
const RANGE_MIN = 32
const ANCHOR = 48
// How far apart two texts may drift before what follows counts as new: a number or a name that changed, not a rewrite.
const DRIFT_MAX = 1024
const SKIP_MAX = 256
const PARTS_MAX = 32
const STRIDE = 4096

/**
 * What a text has that another has not. Requests that carry the whole conversation extend each other, apart from a
 * number near their beginning: said as deltas, a run's log grows with what is said and not with its square.
 */
export function deltaOf(base: string, text: string): Delta {
  const parts: (string | readonly [number, number])[] = []
  let [inBase, inText, literal] = [0, 0, 0]
  while (inText < text.length && parts.length < PARTS_MAX) {
    const length = commonLength(base, inBase, text, inText)
    if (length >= RANGE_MIN) {
      if (inText > literal) parts.push(text.slice(literal, inText))
      parts.push([inBase, inBase + length])
      literal = inText + length
    }
    const found = resume(base, inBase + length, text, inText + length)
    if (found === null) break
    ;[inBase, inText] = found
  }
  if (literal < text.length) parts.push(text.slice(literal))
  return parts
}

/**
 * A text in the pieces that its delta has. The engine keeps a sum of texts as a tree until somebody looks into it, so a
 * thousand requests that extend each other share what they have in common; cut out of whole texts, each would be a copy.
 */
export class PiecedText {
  readonly #pieces: readonly string[]

  constructor(pieces: readonly string[]) {
    this.#pieces = pieces
  }

  get text(): string {
    return sumOf(this.#pieces)
  }

  /** The text that a delta to this one says. */
  apply(delta: Delta): PiecedText {
    return new PiecedText(
      delta.map((part) => (typeof part === 'string' ? part : this.#cut(part[0], part[1]))),
    )
  }

  #cut(from: number, to: number): string {
    const cut: string[] = []
    let start = 0
    for (const piece of this.#pieces) {
      const end = start + piece.length
      if (from <= start && end <= to) cut.push(piece)
      else if (from < end && start < to) cut.push(piece.slice(Math.max(0, from - start), to - start))
      start = end
    }
    return sumOf(cut)
  }
}

// Not join, which copies.
function sumOf(texts: readonly string[]): string {
  let sum = ''
  for (const text of texts) sum += text
  return sum
}

function commonLength(base: string, inBase: number, text: string, inText: number): number {
  const most = Math.min(base.length - inBase, text.length - inText)
  let length = 0
  // Slices are compared as memory, characters one by one.
  while (
    length + STRIDE <= most &&
    base.slice(inBase + length, inBase + length + STRIDE) ===
      text.slice(inText + length, inText + length + STRIDE)
  ) {
    length += STRIDE
  }
  while (length < most && base.charCodeAt(inBase + length) === text.charCodeAt(inText + length)) length += 1
  return length
}

/** Where both go on together after they parted; null: they do not. */
function resume(
  base: string,
  inBase: number,
  text: string,
  inText: number,
): readonly [number, number] | null {
  const window = text.slice(inText, inText + DRIFT_MAX)
  for (let skip = 0; skip <= SKIP_MAX && inBase + skip + ANCHOR <= base.length; skip += 1) {
    const at = window.indexOf(base.slice(inBase + skip, inBase + skip + ANCHOR))
    if (at !== -1) return [inBase + skip, inText + at]
  }
  return null
}
