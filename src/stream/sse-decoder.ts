import { Buffer, isAscii, isUtf8 } from 'node:buffer'

import { createParser } from 'eventsource-parser'

import { streamError, type StreamError } from './stream-error.ts'
import type { StreamLimits } from './stream-limits.ts'

/**
 * Takes one dispatched SSE message. `text` is its data; when the bytes were not UTF-8, U+FFFD stands for what could
 * not be read and `base64` has the bytes.
 */
export type OnSseMessage = (eventName: string | null, text: string, base64: string | null) => void

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
export function createSseDecoder(limits: StreamLimits, onMessage: OnSseMessage): SseDecoder {
  return new Decoder(limits, onMessage)
}

// A line that is still incomplete counts with its field name, a complete one without: with this much room the
// parser's own limit only trips where the exact check at dispatch would trip as well, for any chunking.
const FIELD_NAME_ROOM = 8

class Decoder implements SseDecoder {
  fault: StreamError | null = null
  readonly #limits: StreamLimits
  readonly #onMessage: OnSseMessage
  readonly #parser
  #bytesLeft: number
  // Sticky: most streams are pure ASCII and then no message needs a second look at its characters.
  #seenHighByte = false

  constructor(limits: StreamLimits, onMessage: OnSseMessage) {
    this.#limits = limits
    this.#onMessage = onMessage
    this.#bytesLeft = limits.responseBytesMax
    this.#parser = createParser({
      maxBufferSize: limits.eventBytesMax + FIELD_NAME_ROOM,
      onEvent: (message) => this.#dispatch(message.event, message.data, message.id),
      // Other parse errors are lines SSE tells readers to ignore; whether the parser reports them depends on
      // the chunking, so they cannot be part of what we say about a stream.
      onError: (error) => {
        if (error.type === 'max-buffer-size-exceeded') this.#fail('event_too_large')
      },
    })
  }

  feed(chunk: Uint8Array): boolean {
    if (this.fault !== null) return false
    // Only what fits is read, so that the messages before the limit are the same for any chunking.
    const fits = chunk.length <= this.#bytesLeft ? chunk : chunk.subarray(0, this.#bytesLeft)
    this.#bytesLeft -= fits.length
    if (!this.#seenHighByte) this.#seenHighByte = !isAscii(fits)
    this.#parser.feed(asBuffer(fits).toString('latin1'))
    if (fits.length < chunk.length) this.#fail('response_too_large')
    return this.fault === null
  }

  end(): void {
    // Unlike a browser we keep a message that the connection's end cut short: its text was sent, so it is shown.
    if (this.fault === null) this.#parser.feed('\n\n')
  }

  #dispatch(name: string | undefined, data: string, id: string | undefined): void {
    if (this.fault !== null) return
    if (data.length + (name?.length ?? 0) + (id?.length ?? 0) > this.#limits.eventBytesMax) {
      this.#fail('event_too_large')
      return
    }
    if (!this.#seenHighByte) {
      this.#onMessage(name ?? null, data, null)
      return
    }
    const eventName = name === undefined ? null : utf8Text(name)
    const bytes = Buffer.from(data, 'latin1')
    const base64 = isUtf8(bytes) ? null : bytes.toString('base64')
    this.#onMessage(eventName, bytes.toString('utf8'), base64)
  }

  #fail(code: 'event_too_large' | 'response_too_large'): void {
    const { eventBytesMax, responseBytesMax } = this.#limits
    this.fault ??=
      code === 'event_too_large'
        ? streamError(code, `one event is larger than ${eventBytesMax} bytes`)
        : streamError(code, `the response is larger than ${responseBytesMax} bytes`)
  }
}

function asBuffer(chunk: Uint8Array): Buffer {
  return Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
}

function utf8Text(latin1: string): string {
  return Buffer.from(latin1, 'latin1').toString('utf8')
}
