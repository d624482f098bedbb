const GROWTH_BYTES_MIN = 4096

/** The first and the last bytes of a stream of any length. */
export class ByteEnds {
  readonly #headBytesMax: number
  readonly #tailBytesMax: number
  #head: Buffer = Buffer.alloc(0)
  #headBytes = 0
  /** A ring once it is full; `#tailBytes` modulo its size is where the next byte goes. */
  #tail: Buffer = Buffer.alloc(0)
  #tailBytes = 0

  constructor(headBytesMax: number, tailBytesMax: number) {
    this.#headBytesMax = headBytesMax
    this.#tailBytesMax = tailBytesMax
  }

  /** How many bytes there were in all. */
  get bytesTotal(): number {
    return this.#headBytes + this.#tailBytes
  }

  /** Takes the next bytes and copies what it keeps. */
  take(chunk: Uint8Array): void {
    const toHead = chunk.subarray(0, this.#headBytesMax - this.#headBytes)
    this.#head = withRoom(this.#head, this.#headBytes + toHead.length, this.#headBytesMax)
    this.#head.set(toHead, this.#headBytes)
    this.#headBytes += toHead.length
    this.#takeTail(chunk.subarray(toHead.length))
  }

  /** The first bytes: all of them, as long as they fit. */
  head(): Buffer {
    return this.#head.subarray(0, this.#headBytes)
  }

  /** The last bytes, none of which are in the head. */
  tail(): Buffer {
    if (this.#tailBytes <= this.#tailBytesMax) return this.#tail.subarray(0, this.#tailBytes)
    const at = this.#tailBytes % this.#tailBytesMax
    return Buffer.concat([this.#tail.subarray(at), this.#tail.subarray(0, at)])
  }

  #takeTail(chunk: Uint8Array): void {
    const bytesAfter = this.#tailBytes + chunk.length
    this.#tail = withRoom(this.#tail, Math.min(bytesAfter, this.#tailBytesMax), this.#tailBytesMax)
    const kept = chunk.subarray(Math.max(0, chunk.length - this.#tailBytesMax))
    const at = (bytesAfter - kept.length) % this.#tailBytesMax
    const untilEnd = kept.subarray(0, this.#tailBytesMax - at)
    this.#tail.set(untilEnd, at)
    this.#tail.set(kept.subarray(untilEnd.length), 0)
    this.#tailBytes = bytesAfter
  }
}

/** The same bytes in a buffer of at least that size, doubled each time so that they are copied few times. */
function withRoom(buffer: Buffer, bytes: number, bytesMax: number): Buffer {
  if (buffer.length >= bytes) return buffer
  const size = Math.min(bytesMax, Math.max(bytes, 2 * buffer.length, GROWTH_BYTES_MIN))
  const larger = Buffer.allocUnsafeSlow(size)
  larger.set(buffer)
  return larger
}
