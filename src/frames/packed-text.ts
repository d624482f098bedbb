import { Buffer } from 'node:buffer'

// Node cuts what is shorter out of a pool: what lives as long as a run would keep what others have of that.
const POOLED_BYTES = Buffer.poolSize >>> 1

/**
 * A text that is kept for long and seldom looked at, as bytes outside of the heap. Most of what a run keeps is such text;
 * in the heap it would be copied by two collections, and would count for how much memory V8 gives itself.
 */
export class PackedText {
  readonly #bytes: Buffer

  constructor(text: string) {
    const length = Buffer.byteLength(text)
    if (length >= POOLED_BYTES) this.#bytes = Buffer.from(text)
    else {
      this.#bytes = Buffer.allocUnsafeSlow(length)
      this.#bytes.write(text)
    }
  }

  /** A part of it, by its characters. */
  slice(from: number, to: number): string {
    return this.#bytes.toString().slice(from, to)
  }
}
