import { Buffer } from 'node:buffer'

import { HttpError, parseHead, type HttpHead } from './http-head.ts'

export interface ResponseSink {
  onHead(head: HttpHead): void
  /** Bytes of the body, what came at once in one piece. They are good during the call only. */
  onBody(bytes: Buffer): void
}

const CR = 13
const LF = 10
const TAB = 9
const SPACE = 32
const SEMICOLON = 59
const HEAD_END = Buffer.from('\r\n\r\n')
const HTTP = Buffer.from('HTTP/1.')
const HEAD_BYTES_MAX = 16 * 1024
/** Bytes of a line end, a size of six digits, which is far from any bound, and a line end. */
const SIZE_LINE_MAX = 10
/** What a byte is as a digit of a size; -1: it is none. */
const DIGITS = Int8Array.from({ length: 256 }, (_, byte) => hexDigit(byte))

/** What comes next of a response, and between the chunks of its body. */
type Awaited =
  | 'head'
  | 'length'
  | 'until_close'
  | 'size'
  | 'size_space'
  | 'extension'
  | 'size_lf'
  | 'data'
  | 'data_cr'
  | 'data_lf'
  | 'trailer'
  | 'trailer_line'
  | 'trailer_lf'
  | 'end_lf'
  | 'nothing'

/**
 * Reads HTTP/1 responses, one after the other, from bytes cut anywhere. Strict: what leaves open where the response ends, or could be read
 * as another by somebody else, throws. What of a body came in chunks is moved together, in the very buffer it came in.
 */
export class ResponseParser {
  #sink: ResponseSink | null = null
  #awaits: Awaited = 'nothing'
  /** The start of a head that is not whole. */
  #held: Buffer | null = null
  #head: HttpHead | null = null
  /** Bytes that are left of the body, or of the chunk. */
  #left = 0
  #size = 0
  #digits = 0
  /** Bytes of what stands beside a chunk: it is not needed, and must not be without end. */
  #besides = 0
  /** Bytes came behind the end. */
  #hasMore = false

  /** The next response is for this one. */
  begin(sink: ResponseSink): void {
    this.#sink = sink
    this.#awaits = 'head'
    this.#left = 0
    this.#size = 0
    this.#digits = 0
    this.#besides = 0
    this.#hasMore = false
  }

  /** Lets go of a response, also in the middle of reading it. */
  clear(): void {
    this.#sink = null
    this.#awaits = 'nothing'
    this.#held = null
    this.#head = null
  }

  get isDone(): boolean {
    return this.#awaits === 'nothing'
  }

  /** For how long the connection may be used again, now that the response is whole. */
  get reuseMs(): number {
    return this.#hasMore ? 0 : (this.#head?.reuseMs ?? 0)
  }

  /** Reads on. Throws for what is no response. What comes after one takes nothing from it, but nobody knows what it is. */
  feed(bytes: Buffer): void {
    let at = 0
    while (at < bytes.length && this.#awaits === 'head') at = this.#readHead(bytes, at)
    if (at === bytes.length) return
    if (this.#awaits === 'length' || this.#awaits === 'until_close') at = this.#readPlain(bytes, at)
    else at = this.#readChunks(bytes, at)
    this.#hasMore = at < bytes.length
  }

  /** The connection has ended. Throws when the response had not. */
  end(): void {
    if (this.#awaits === 'until_close') this.#awaits = 'nothing'
    if (!this.isDone) throw new HttpError('HTTP_CUT', 'the connection ended before the response')
  }

  #readHead(bytes: Buffer, from: number): number {
    const held = this.#held
    if (held !== null) return this.#readRestOfHead(held, bytes, from)
    const end = headEnd(bytes, from)
    if (end === -1) {
      // The bytes are the caller's.
      this.#held = Buffer.from(bytes.subarray(from))
      return bytes.length
    }
    this.#begin(parseHead(bytes.toString('latin1', from, end)))
    return end + HEAD_END.length
  }

  #readRestOfHead(held: Buffer, bytes: Buffer, from: number): number {
    const joined = Buffer.concat([held, bytes.subarray(from)])
    const end = headEnd(joined, 0)
    this.#held = end === -1 ? joined : null
    if (end === -1) return bytes.length
    this.#begin(parseHead(joined.toString('latin1', 0, end)))
    return from + end + HEAD_END.length - held.length
  }

  #begin(head: HttpHead): void {
    const { status, framing } = head
    if (status === 101) throw new HttpError('HTTP_INVALID', 'it changes to another protocol')
    // Such as "100 continue": the head is still to come.
    if (status < 200) return
    this.#head = head
    if (framing === 'chunked') this.#awaits = 'size'
    else if (framing === 'until_close') this.#awaits = 'until_close'
    else this.#awaits = framing === 0 ? 'nothing' : 'length'
    this.#left = framing === 'until_close' ? Number.POSITIVE_INFINITY : framing === 'chunked' ? 0 : framing
    this.#sink?.onHead(head)
  }

  #readPlain(bytes: Buffer, from: number): number {
    const end = Math.min(bytes.length, from + this.#left)
    this.#left -= end - from
    if (this.#left === 0) this.#awaits = 'nothing'
    this.#sink?.onBody(from === 0 && end === bytes.length ? bytes : bytes.subarray(from, end))
    return end
  }

  #readChunks(bytes: Buffer, from: number): number {
    const { length } = bytes
    let at = from
    let end = from
    while (at < length && this.#awaits !== 'nothing') {
      if (this.#awaits !== 'data') {
        this.#readBesides(bytes[at] ?? 0)
        at += 1
        continue
      }
      let left = this.#left
      // One chunk after the other, as long as it is there with what stands before the next, and that is written as it mostly
      // is: a line end, a size, a line end. Anything else is looked at byte by byte.
      for (let stop = at + left; stop + SIZE_LINE_MAX <= length; stop = at + left) {
        if (bytes[stop] !== CR || bytes[stop + 1] !== LF) break
        let next = stop + 2
        let size = 0
        for (let digit = DIGITS[bytes[next] ?? 0] ?? -1; digit >= 0; digit = DIGITS[bytes[next] ?? 0] ?? -1) {
          size = size * 16 + digit
          next += 1
        }
        if (size === 0 || next - stop > SIZE_LINE_MAX - 2 || bytes[next] !== CR || bytes[next + 1] !== LF)
          break
        if (end !== at) bytes.copyWithin(end, at, stop)
        end += left
        at = next + 2
        left = size
      }
      const stop = Math.min(at + left, length)
      if (end !== at) bytes.copyWithin(end, at, stop)
      end += stop - at
      left -= stop - at
      at = stop
      this.#left = left
      this.#awaits = left === 0 ? 'data_cr' : 'data'
    }
    if (end > from) this.#sink?.onBody(bytes.subarray(from, end))
    return at
  }

  /** A byte of what stands between chunks, and after the last. */
  #readBesides(byte: number): void {
    switch (this.#awaits) {
      case 'size':
        return this.#readSize(byte)
      case 'size_space':
        return this.#readSpace(byte)
      case 'extension':
        return this.#skip(byte, 'size_lf')
      case 'size_lf':
        this.#left = this.#size
        return this.#expect(byte, LF, this.#size === 0 ? 'trailer' : 'data')
      case 'data_cr':
        return this.#expect(byte, CR, 'data_lf')
      case 'data_lf':
        this.#size = 0
        this.#digits = 0
        this.#besides = 0
        return this.#expect(byte, LF, 'size')
      case 'trailer':
        this.#awaits = 'trailer_line'
        return byte === CR ? this.#expect(byte, CR, 'end_lf') : this.#skip(byte, 'trailer_lf')
      case 'trailer_line':
        return this.#skip(byte, 'trailer_lf')
      case 'trailer_lf':
        return this.#expect(byte, LF, 'trailer')
      case 'end_lf':
        return this.#expect(byte, LF, 'nothing')
      default:
        throw new Error(`there is nothing beside ${this.#awaits}`)
    }
  }

  #readSize(byte: number): void {
    const digit = hexDigit(byte)
    if (digit !== -1) {
      this.#size = this.#size * 16 + digit
      this.#digits += 1
      if (Number.isSafeInteger(this.#size) && this.#digits < 16) return
    } else if (this.#digits > 0) {
      return this.#readSpace(byte)
    }
    throw new HttpError('HTTP_INVALID', 'a chunk has no size')
  }

  /** Some servers write sizes of one width, with spaces behind. */
  #readSpace(byte: number): void {
    if (byte === SEMICOLON) this.#awaits = 'extension'
    else if (byte === CR || byte === SPACE || byte === TAB) {
      this.#awaits = 'size_space'
      this.#skip(byte, 'size_lf')
    } else throw new HttpError('HTTP_INVALID', 'a chunk has no size')
  }

  #expect(byte: number, expected: number, next: Awaited): void {
    if (byte !== expected) throw new HttpError('HTTP_INVALID', 'a chunk does not end where it should')
    this.#awaits = next
  }

  /** Passes over a line. */
  #skip(byte: number, atItsEnd: Awaited): void {
    this.#besides += 1
    if (this.#besides > HEAD_BYTES_MAX) {
      throw new HttpError('HTTP_HEAD_TOO_LARGE', `beside a chunk are more than ${HEAD_BYTES_MAX} bytes`)
    }
    if (byte === LF) throw new HttpError('HTTP_INVALID', 'a line beside its chunks has a stray character')
    if (byte === CR) this.#awaits = atItsEnd
  }
}

/** Where the head that begins at a place ends, before its blank line; -1: it is not whole. Throws when it cannot become one. */
function headEnd(bytes: Buffer, from: number): number {
  // What speaks something else is known by its first bytes, and may never send a blank line.
  for (let at = 0; at < HTTP.length && from + at < bytes.length; at += 1) {
    if (bytes[from + at] === HTTP[at]) continue
    throw new HttpError('HTTP_INVALID', 'it does not begin as a response does')
  }
  const end = bytes.indexOf(HEAD_END, from)
  // A blank line that is written otherwise: what comes next would be waited for as the rest of the head.
  if (end === -1 && (bytes.includes('\n\n', from) || bytes.includes('\n\r\n', from))) {
    throw new HttpError('HTTP_INVALID', 'its head has lines that do not end as lines of a head do')
  }
  // Of its end, all but the last byte may be there.
  if ((end === -1 ? bytes.length - HEAD_END.length + 1 : end) - from > HEAD_BYTES_MAX) {
    throw new HttpError('HTTP_HEAD_TOO_LARGE', `its head has more than ${HEAD_BYTES_MAX} bytes`)
  }
  return end
}

function hexDigit(byte: number): number {
  if (byte >= 48 && byte <= 57) return byte - 48
  const lower = byte | 32
  return lower >= 97 && lower <= 102 ? lower - 87 : -1
}
