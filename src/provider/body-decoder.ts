import type { Buffer } from 'node:buffer'
import type { Transform } from 'node:stream'
import { constants, createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib'

/** Undoes what a proxy on the way compressed although nobody asked for it. */
export interface BodyDecoder {
  /** False: no more, until `onDrain`. */
  write(chunk: Buffer): boolean
  /** The body has ended; what is left of it is still told, and then its end. */
  end(): void
  destroy(): void
}

export interface BodySink {
  readonly onChunk: (chunk: Buffer) => void
  readonly onDrain: () => void
  readonly onEnd: () => void
  readonly onError: (error: Error) => void
}

/** Null for a body that is not compressed, and for one that is in a way that is not read. */
export function createBodyDecoder(encoding: string | null, sink: BodySink): BodyDecoder | null {
  const known = encoding === null ? undefined : DECODERS.get(encoding.trim().toLowerCase())
  return known === undefined ? null : new StreamDecoder(known, sink)
}

// Flushed with every piece, since a stream is read as it comes; and at the end, since some servers leave the last part
// of a compressed body out.
const FLUSH = { flush: constants.Z_SYNC_FLUSH, finishFlush: constants.Z_SYNC_FLUSH }
const BROTLI_FLUSH = {
  flush: constants.BROTLI_OPERATION_FLUSH,
  finishFlush: constants.BROTLI_OPERATION_FLUSH,
}
const CM_DEFLATE = 8

// Not an object: the name is the server's, and `constructor` is in each of them.
const DECODERS = new Map<string, (first: number) => Transform>([
  ['gzip', () => createGunzip(FLUSH)],
  ['x-gzip', () => createGunzip(FLUSH)],
  ['br', () => createBrotliDecompress(BROTLI_FLUSH)],
  // By the name is meant zlib's format, and by many servers the bare one within it.
  [
    'deflate',
    (first: number) => ((first & 15) === CM_DEFLATE ? createInflate(FLUSH) : createInflateRaw(FLUSH)),
  ],
])

class StreamDecoder implements BodyDecoder {
  readonly #create: (first: number) => Transform
  readonly #sink: BodySink
  #stream: Transform | null = null

  constructor(create: (first: number) => Transform, sink: BodySink) {
    this.#create = create
    this.#sink = sink
  }

  write(chunk: Buffer): boolean {
    const [first] = chunk
    if (first === undefined) return true
    this.#stream ??= this.#open(first)
    return this.#stream.write(chunk)
  }

  end(): void {
    if (this.#stream === null) this.#sink.onEnd()
    else this.#stream.end()
  }

  destroy(): void {
    this.#stream?.destroy()
  }

  #open(first: number): Transform {
    const { onChunk, onDrain, onEnd, onError } = this.#sink
    return this.#create(first).on('data', onChunk).on('drain', onDrain).on('end', onEnd).on('error', onError)
  }
}
