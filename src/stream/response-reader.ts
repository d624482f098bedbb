import { Buffer } from 'node:buffer'

import type { AssembledResponse } from './assemble-response.ts'
import { EventPipeline, type ReaderOptions } from './event-pipeline.ts'
import { createSseDecoder, type SseDecoder, type SseSink } from './sse-decoder.ts'
import { streamError } from './stream-error.ts'

/** Reads one response. */
export interface ResponseReader {
  /** Takes the next bytes, cut anywhere. False when nothing more needs to be read: drop the connection. */
  feed(chunk: Uint8Array): boolean
  /** The body ended, or the connection did: what the response came to. */
  end(): AssembledResponse
}

/** Reads a streamed response (text/event-stream). */
export function createStreamReader(options: ReaderOptions): ResponseReader {
  return new StreamReader(options)
}

/** Reads a response that came whole (application/json), through the same reducer. */
export function createBodyReader(options: ReaderOptions): ResponseReader {
  return new BodyReader(options)
}

class StreamReader implements ResponseReader {
  readonly #pipeline: EventPipeline
  readonly #decoder: SseDecoder
  #settled: AssembledResponse | null = null

  constructor(options: ReaderOptions) {
    const pipeline = new EventPipeline(options)
    this.#pipeline = pipeline
    // Whoever takes each event by itself has no use for runs of them.
    const sink = options.onDeltas === undefined ? withoutRuns(pipeline) : pipeline
    this.#decoder = createSseDecoder(pipeline.limits, sink)
  }

  feed(chunk: Uint8Array): boolean {
    return this.#decoder.feed(chunk) && !this.#pipeline.collector.hasPassedLimit
  }

  end(): AssembledResponse {
    this.#settled ??= this.#finish()
    return this.#settled
  }

  #finish(): AssembledResponse {
    this.#pipeline.isEnding = true
    this.#decoder.end()
    if (this.#decoder.fault !== null) this.#pipeline.collector.fail(this.#decoder.fault)
    return this.#pipeline.end()
  }
}

function withoutRuns(pipeline: EventPipeline): SseSink {
  return { message: (eventName, text, base64) => pipeline.message(eventName, text, base64) }
}

const BODY_BYTES = 16 * 1024

class BodyReader implements ResponseReader {
  readonly #pipeline: EventPipeline
  readonly #bytesMax: number
  // One buffer that grows: a chunk may be a single byte, and its object many times that.
  #bytes = Buffer.allocUnsafe(BODY_BYTES)
  #length = 0
  #settled: AssembledResponse | null = null

  constructor(options: ReaderOptions) {
    this.#pipeline = new EventPipeline(options)
    this.#bytesMax = this.#pipeline.limits.responseBytesMax
  }

  feed(chunk: Uint8Array): boolean {
    const length = this.#length + chunk.length
    if (length <= this.#bytesMax) {
      if (length > this.#bytes.length) this.#grow(length)
      this.#bytes.set(chunk, this.#length)
    }
    this.#length = length
    return length <= this.#bytesMax
  }

  #grow(length: number): void {
    const larger = Buffer.allocUnsafe(Math.max(length, Math.min(2 * this.#bytes.length, this.#bytesMax)))
    this.#bytes.copy(larger, 0, 0, this.#length)
    this.#bytes = larger
  }

  end(): AssembledResponse {
    this.#settled ??= this.#finish()
    return this.#settled
  }

  #finish(): AssembledResponse {
    const { collector, limits } = this.#pipeline
    if (this.#length <= this.#bytesMax) this.#pipeline.body(this.#bytes.subarray(0, this.#length))
    else {
      const message = `the response is larger than ${limits.responseBytesMax} bytes`
      collector.fail(streamError('response_too_large', message))
    }
    return this.#pipeline.end()
  }
}
