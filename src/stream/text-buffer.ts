// A piece is a part of the chunk that it came in, and keeps all of that in memory until it is joined.
const PIECES_PER_BLOCK = 64

/**
 * Text that arrives in pieces: linear in time, and close to the text's own size in memory.
 *
 * Small pieces are joined into blocks as they come (a million strings of a few characters cost ten times their
 * text), and blocks only when somebody asks (joining the whole each time would be quadratic).
 */
export class TextBuffer {
  length = 0
  #blocks: string[] = []
  #pieces: string[] = []

  append(piece: string): void {
    this.length += piece.length
    this.#pieces.push(piece)
    if (this.#pieces.length < PIECES_PER_BLOCK) return
    this.#blocks.push(this.#pieces.join(''))
    this.#pieces = []
  }

  text(): string {
    // Kept joined: who asks once may ask again, for every event that a provider repeats.
    this.#blocks = [this.#blocks.join('') + this.#pieces.join('')]
    this.#pieces = []
    return this.#blocks[0] ?? ''
  }
}
