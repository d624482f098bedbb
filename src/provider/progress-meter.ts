/** Tells whether a body gets anywhere, without reading it twice. */
export interface ProgressMeter {
  /** Whether something was completed in this piece. */
  feed(chunk: Uint8Array): boolean
}

const LF = 10
const CR = 13
const SPACE = 32
const FIELD = Array.from('data:', (letter) => letter.charCodeAt(0))

/**
 * For a stream: an event ended, that is, a blank line came after a line of data. Comments, names and retry times
 * are bytes without an event. For a body that comes whole: anything but white space.
 */
export function createProgressMeter(shape: 'stream' | 'body'): ProgressMeter {
  return shape === 'stream' ? new EventMeter() : { feed: (chunk) => chunk.some((byte) => byte > SPACE) }
}

class EventMeter implements ProgressMeter {
  #column = 0
  #matched = 0
  #hasData = false
  #isAfterCr = false

  feed(chunk: Uint8Array): boolean {
    let hasEnded = false
    for (const byte of chunk) {
      if (byte === LF || byte === CR) {
        // The second half of a line end is not an empty line.
        if (byte === CR || !this.#isAfterCr) hasEnded = this.#endLine() || hasEnded
        this.#isAfterCr = byte === CR
        continue
      }
      this.#isAfterCr = false
      if (byte === FIELD[this.#column]) this.#matched += 1
      this.#column += 1
    }
    return hasEnded
  }

  /** Whether this was the blank line that ends an event. */
  #endLine(): boolean {
    const isBlank = this.#column === 0
    const isEnd = isBlank && this.#hasData
    this.#hasData = isBlank ? false : this.#hasData || this.#matched === FIELD.length
    this.#column = 0
    this.#matched = 0
    return isEnd
  }
}
