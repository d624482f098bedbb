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
    const bytes = Buffer.isBuffer(chunk)
      ? chunk
      : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
    const end = endOfEvents(bytes)
    if (end === -1) return this.#read(bytes)
    // Behind a blank line nothing is left of what came before.
    this.#column = 0
    this.#matched = 0
    this.#hasData = false
    this.#isAfterCr = false
    if (end < bytes.length) this.#read(bytes.subarray(end))
    return true
  }

  #read(bytes: Buffer): boolean {
    let hasEnded = false
    let from = 0
    // Looked for once and not from every line: with one far away, that would be lines times bytes.
    let cr = bytes.indexOf(CR)
    for (let lf = bytes.indexOf(LF); lf !== -1 || cr !== -1;) {
      const isCr = lf === -1 || (cr !== -1 && cr < lf)
      const end = isCr ? cr : lf
      this.#addText(bytes, from, end)
      // The second half of a line end is not an empty line.
      if (isCr || !this.#isAfterCr) hasEnded = this.#endLine() || hasEnded
      this.#isAfterCr = isCr
      from = end + 1
      if (isCr) cr = bytes.indexOf(CR, from)
      else lf = bytes.indexOf(LF, from)
    }
    this.#addText(bytes, from, bytes.length)
    return hasEnded
  }

  #addText(bytes: Buffer, from: number, to: number): void {
    if (to === from) return
    this.#isAfterCr = false
    for (let at = from; at < to && this.#column < FIELD.length; at += 1) {
      if (bytes[at] === FIELD[this.#column]) this.#matched += 1
      this.#column += 1
    }
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
const BLANK_LINE = Buffer.from('\n\n')
const BLANK_CRLF_LINE = Buffer.from('\r\n\r\n')

/**
 * Where the last blank line that has a line of data before it ends; -1: not found. Most pieces hold whole events, and
 * two searches are far quicker than a look at every line. What they do not find may be there all the same, half of it in
 * another piece.
 */
function endOfEvents(bytes: Buffer): number {
  const data = bytes.indexOf(DATA_LINE)
  if (data === -1) return -1
  const { length } = bytes
  if (bytes[length - 1] === LF && bytes[length - 2] === LF && length - 2 > data) return length
  const at = bytes.lastIndexOf(BLANK_LINE)
  if (at > data) return at + BLANK_LINE.length
  const crlfAt = bytes.lastIndexOf(BLANK_CRLF_LINE)
  return crlfAt > data ? crlfAt + BLANK_CRLF_LINE.length : -1
}
