import { Buffer } from 'node:buffer'

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
    const end = endOfEvent(chunk)
    if (end === -1) return this.#read(chunk)
    this.#column = 0
    this.#matched = 0
    this.#hasData = false
    this.#isAfterCr = false
    this.#read(chunk.subarray(end))
    return true
  }

  #read(chunk: Uint8Array): boolean {
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

const DATA_LINE = Buffer.from('\ndata:')
const BLANK_LINES = [Buffer.from('\n\n'), Buffer.from('\r\n\r\n')]

/**
 * Where the last blank line after a line of data ends; -1: not found. Most pieces hold whole events, and a search is far
 * quicker than a look at every byte. What it does not find may be there all the same: half of it in another piece.
 */
function endOfEvent(chunk: Uint8Array): number {
  const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
  const data = bytes.indexOf(DATA_LINE)
  if (data === -1) return -1
  for (const blank of BLANK_LINES) {
    const at = bytes.lastIndexOf(blank)
    if (at > data) return at + blank.length
  }
  return -1
}
