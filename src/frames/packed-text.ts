import { Buffer } from 'node:buffer'

/**
 * A text that is kept for long and seldom looked at, as bytes outside of the heap. Most of what a run keeps is such text;
 * in the heap it would be copied by two collections, and would count for how much memory V8 gives itself.
 */
export class PackedText {
  readonly #bytes: Buffer

  /** Of parts, one behind the other: joined in the heap first, they would be there twice. */
  constructor(parts: readonly string[]) {
    let length = 0
    for (let at = 0; at < parts.length; at += 1) length += Buffer.byteLength(parts[at] ?? '')
    // Not of Node's pool: what lives as long as a run would keep what others have of that.
    this.#bytes = Buffer.allocUnsafeSlow(length)
    let end = 0
    for (let at = 0; at < parts.length; at += 1) end += this.#bytes.write(parts[at] ?? '', end)
  }

  /** A part of it, by its characters. */
  slice(from: number, to: number): string {
    return this.#bytes.toString().slice(from, to)
  }
}
