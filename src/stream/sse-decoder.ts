import { Buffer, isAscii, isUtf8 } from 'node:buffer'

import { createParser, type EventSourceParser } from 'eventsource-parser'

import { streamError, type StreamError } from './stream-error.ts'
import type { StreamLimits } from './stream-limits.ts'

/** Takes the messages of a stream. */
export interface SseSink {
  /**
   * One dispatched SSE message. `text` is its data; when the bytes were not UTF-8, U+FFFD stands for what could not be
   * read and `base64` has the bytes.
   */
  message(eventName: string | null, text: string, base64: string | null): void
  /**
   * Is shown the text of a stream where a message begins, and may read whole messages off it: the answer is where the
   * next one begins that it did not. They are messages that `message` would have been given.
   */
  run?(stream: string, from: number): number
}

export interface SseDecoder {
  /** Takes the next bytes, cut anywhere. False once a limit was passed: nothing more will be read. */
  feed(chunk: Uint8Array): boolean
  /** The body ended. A last message without its blank line is dispatched too. */
  end(): void
  /** The limit that was passed, if one was. */
  readonly fault: StreamError | null
}

/**
 * Turns the bytes of a text/event-stream body into messages.
 *
 * The parser is fed one character per byte (latin1). Every character with a meaning in SSE is ASCII, so the
 * framing is the same, a UTF-8 sequence may be cut anywhere, and each message still has its exact bytes.
 */
export function createSseDecoder(limits: StreamLimits, sink: SseSink): SseDecoder {
  return new Decoder(limits, sink)
}

// A line that is still incomplete counts with its field name, a complete one without: with this much room the
// parser's own limit only trips where the exact check at dispatch would trip as well.
const FIELD_NAME_ROOM = 8
// The parser looks for the next CR from every line of what it is fed: with one far away, work is lines times bytes.
const SLICE_BYTES = 16 * 1024
const SLICE_WITH_CR_BYTES = 2 * 1024
// Each line of data is one more string to the parser; many short ones cost far more than their text.
const LINES_PER_EVENT_MAX = 65_536
const SCRATCH_BYTES = 64 * 1024
const CR = 13
const LF = 10
const BLANK_LINE = '\n\n'
const EVENT = 'event: '
const DATA = 'data: '

class Decoder implements SseDecoder {
  fault: StreamError | null = null
  readonly #limits: StreamLimits
  readonly #sink: SseSink
  /** Reads what is not written as most is; null: there was nothing of that kind. */
  #parser: EventSourceParser | null = null
  #bytesLeft: number
  /** A byte above 127 may be in what the parser holds: most streams are ASCII, and need no second look. */
  #hasHighByte = false
  // Not at the very start, unless it is that of an event: there may be a byte order mark.
  #isBetweenEvents = false
  #hasBegun = false
  #hasDispatched = false
  #linesSinceEvent = 0

  constructor(limits: StreamLimits, sink: SseSink) {
    this.#limits = limits
    this.#sink = sink
    this.#bytesLeft = limits.responseBytesMax
  }

  feed(chunk: Uint8Array): boolean {
    if (this.fault !== null) return false
    // Only what fits is read, so that the messages before the limit are the same for any chunking.
    const fits = asBuffer(chunk.length <= this.#bytesLeft ? chunk : chunk.subarray(0, this.#bytesLeft))
    this.#bytesLeft -= fits.length
    const isSmall = fits.length <= SLICE_WITH_CR_BYTES
    const size = isSmall || fits.includes(CR) ? SLICE_WITH_CR_BYTES : SLICE_BYTES
    for (let at = 0; at < fits.length && this.fault === null; at += size) {
      this.#feedSlice(fits.length <= size ? fits : fits.subarray(at, at + size))
    }
    if (fits.length < chunk.length) this.#fail('response_too_large')
    return this.fault === null
  }

  end(): void {
    // Unlike a browser we keep a message that the connection's end cut short: its text was sent, so it is shown.
    if (this.fault === null) this.#parser?.feed(BLANK_LINE)
  }

  /** Whole events are a piece of their own where not all of a slice is ASCII: they are read as the text that they are. */
  #feedSlice(slice: Buffer): void {
    const isHigh = !isAscii(slice)
    if (!isHigh || (this.#isBetweenEvents && endsEvent(slice))) return this.#feedPiece(slice, isHigh)
    const from = this.#isBetweenEvents ? 0 : behindBlankLine(slice.indexOf(BLANK_LINE))
    const to = Math.max(from, behindBlankLine(slice.lastIndexOf(BLANK_LINE)))
    for (const piece of [slice.subarray(0, from), slice.subarray(from, to), slice.subarray(to)]) {
      if (piece.length > 0 && this.fault === null) this.#feedPiece(piece, !isAscii(piece))
    }
  }

  #feedPiece(slice: Buffer, isHigh: boolean): void {
    this.#hasDispatched = false
    if (isHigh && this.#isBetweenEvents && this.#isWholeText(slice)) {
      this.#feedText(slice.toString('utf8'))
      this.#linesSinceEvent = 0
      return
    }
    this.#hasHighByte ||= isHigh
    const text = slice.toString('latin1')
    if (this.#hasHighByte) this.#parse(text)
    else this.#feedText(text)
    this.#isBetweenEvents = endsEvent(slice)
    if (this.#hasDispatched) {
      // Whatever the parser still holds came after the dispatched event, and so from this slice.
      this.#hasHighByte = isHigh && !this.#isBetweenEvents
      this.#linesSinceEvent = 0
      return
    }
    // A blank line empties the parser, with or without an event: comments that keep a connection alive do not add up.
    const isEmptied = endsWithBlankLine(slice)
    this.#linesSinceEvent = isEmptied ? 0 : this.#linesSinceEvent + countOf(LF, slice) + countOf(CR, slice)
    // The exact check is made when the event is dispatched; this one ends what is never dispatched.
    if (this.#linesSinceEvent > 2 * LINES_PER_EVENT_MAX + SLICE_BYTES) this.#fail('event_too_large')
  }

  /** Event by event, so that the sink sees where each begins. What it leaves, and is not written as most is, is for the parser. */
  #feedText(text: string): void {
    const sink = this.#sink
    if (sink.run === undefined) return this.#parse(text)
    if (!this.#hasBegun) this.#isBetweenEvents = text.startsWith(EVENT) || text.startsWith(DATA)
    // What is longer than an event may be is left to the parser, too: it is checked as each one ends.
    const isShort = text.length <= this.#limits.eventBytesMax
    const isPlain = isShort && !text.includes('\r')
    for (let at = 0; at < text.length && this.fault === null;) {
      const from = this.#isBetweenEvents && isShort ? sink.run(text, at) : at
      if (from > at) this.#hasDispatched = true
      const blank = text.indexOf(BLANK_LINE, from)
      at = blank === -1 ? text.length : blank + BLANK_LINE.length
      const isRead = isPlain && this.#isBetweenEvents && this.#readPlain(text, from, blank)
      if (!isRead && at > from) this.#parse(text.slice(from, at))
      this.#isBetweenEvents = blank !== -1 || from === text.length
    }
  }

  /** Reads an event that is one line of data, mostly behind its name. False: it is something else. */
  #readPlain(text: string, from: number, blank: number): boolean {
    const isNamed = text.startsWith(EVENT, from)
    const nameEnd = isNamed ? text.indexOf('\n', from) : from - 1
    const dataFrom = nameEnd + 1 + DATA.length
    if (blank === -1 || !text.startsWith(DATA, nameEnd + 1) || text.indexOf('\n', dataFrom) !== blank)
      return false
    const name = isNamed ? text.slice(from + EVENT.length, nameEnd) : ''
    this.#hasBegun = true
    this.#dispatch(name === '' ? undefined : name, text.slice(dataFrom, blank), undefined)
    return true
  }

  #parse(text: string): void {
    this.#parser ??= this.#makeParser()
    this.#hasBegun = true
    this.#parser.feed(text)
  }

  #makeParser(): EventSourceParser {
    const parser = createParser({
      maxBufferSize: this.#limits.eventBytesMax + FIELD_NAME_ROOM,
      onEvent: (message) => this.#dispatch(message.event, message.data, message.id),
      // Other parse errors are lines SSE tells readers to ignore; whether the parser reports them depends on
      // the chunking, so they cannot be part of what we say about a stream.
      onError: (error) => {
        if (error.type === 'max-buffer-size-exceeded') this.#fail('event_too_large')
      },
    })
    // A comment, so that it takes nothing in the middle of a stream for a byte order mark.
    if (this.#hasBegun) parser.feed(':\n')
    return parser
  }

  /**
   * Whether a slice is whole events in UTF-8, as from a provider that flushes after each: it can then be read as the
   * text that it is, all at once.
   */
  #isWholeText(slice: Buffer): boolean {
    return (
      !this.#hasHighByte && slice.length <= this.#limits.eventBytesMax && endsEvent(slice) && isUtf8(slice)
    )
  }

  #dispatch(name: string | undefined, data: string, id: string | undefined): void {
    if (this.fault !== null) return
    this.#hasDispatched = true
    const length = data.length + (name?.length ?? 0) + (id?.length ?? 0)
    if (length > this.#limits.eventBytesMax || hasTooManyLines(data)) {
      this.#fail('event_too_large')
      return
    }
    if (!this.#hasHighByte) {
      this.#sink.message(name ?? null, data, null)
      return
    }
    const eventName = name === undefined ? null : utf8Text(name)
    const text = utf8Text(data)
    const isLossy = text !== data && text.includes('\ufffd') && !isUtf8(Buffer.from(data, 'latin1'))
    this.#sink.message(eventName, text, isLossy ? Buffer.from(data, 'latin1').toString('base64') : null)
  }

  #fail(code: 'event_too_large' | 'response_too_large'): void {
    const { eventBytesMax, responseBytesMax } = this.#limits
    this.fault ??=
      code === 'event_too_large'
        ? streamError(code, `one event is larger than ${eventBytesMax} bytes or ${LINES_PER_EVENT_MAX} lines`)
        : streamError(code, `the response is larger than ${responseBytesMax} bytes`)
  }
}

function behindBlankLine(at: number): number {
  return at === -1 ? 0 : at + BLANK_LINE.length
}

function countOf(byte: number, bytes: Buffer): number {
  let count = 0
  for (let at = bytes.indexOf(byte); at !== -1; at = bytes.indexOf(byte, at + 1)) count += 1
  return count
}

function hasTooManyLines(data: string): boolean {
  if (data.length < LINES_PER_EVENT_MAX) return false
  let lines = 1
  for (let at = data.indexOf('\n'); at !== -1; at = data.indexOf('\n', at + 1)) lines += 1
  return lines > LINES_PER_EVENT_MAX
}

function endsWithBlankLine(bytes: Buffer): boolean {
  const [last, before] = [bytes.at(-1), bytes.at(-2)]
  if (last === LF && before === CR) return bytes.at(-3) === LF || bytes.at(-3) === CR
  return (last === LF || last === CR) && before === last
}

function endsEvent(bytes: Buffer): boolean {
  return bytes.at(-1) === LF && bytes.at(-2) === LF
}

function asBuffer(chunk: Uint8Array): Buffer {
  return Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
}

const scratch = Buffer.allocUnsafe(SCRATCH_BYTES)
const HIGH_CHARACTER = /[\u0080-\u00ff]/u

/** Bytes that were read as one character each, as the text that they are. */
function utf8Text(latin1: string): string {
  if (!HIGH_CHARACTER.test(latin1)) return latin1
  if (latin1.length > SCRATCH_BYTES) return Buffer.from(latin1, 'latin1').toString('utf8')
  const length = scratch.write(latin1, 'latin1')
  return scratch.toString('utf8', 0, length)
}
