import { countUpTo } from '../binary-search.ts'

// Long enough that few pages are joined for a view, short enough that adding to the last one copies little.
const PAGE_CHARS = 16_384

/**
 * Text that came in pieces, each with a frame. How long it was at any frame is found by binary search, and a part of it
 * is read without joining the rest.
 */
export class JoinedText {
  readonly #pages: string[] = []
  /** Where each page begins. */
  readonly #starts: number[] = []
  readonly #seqs: number[] = []
  /** How long the text is after the piece of the same index. */
  readonly #ends: number[] = []
  #length = 0

  /** All of the text at once, as one frame gave it. */
  static of(seq: number, text: string): JoinedText {
    const joined = new JoinedText()
    joined.add(seq, text)
    return joined
  }

  add(seq: number, piece: string): void {
    const last = this.#pages.length - 1
    const page = this.#pages[last]
    if (page !== undefined && page.length + piece.length <= PAGE_CHARS) {
      this.#pages[last] = page + piece
    } else {
      this.#pages.push(piece)
      this.#starts.push(this.#length)
    }
    this.#length += piece.length
    this.#seqs.push(seq)
    this.#ends.push(this.#length)
  }

  /** Characters that had come by a frame. */
  lengthAt(seq: number): number {
    return this.#ends[countUpTo(this.#seqs, seq) - 1] ?? 0
  }

  slice(from: number, to: number): string {
    const first = Math.max(0, countUpTo(this.#starts, from) - 1)
    const after = countUpTo(this.#starts, to - 1)
    const start = this.#starts[first] ?? 0
    return this.#pages
      .slice(first, after)
      .join('')
      .slice(from - start, Math.max(from, to) - start)
  }
}
