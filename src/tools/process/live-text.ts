const LIVE_BYTES_MAX = 1024 * 1024

/** Shown once in place of everything after the first 1 MiB. */
const NOTE = '\n[further output is not shown live]\n'

/** Turns bytes that come in pieces into text: a character that is split over two pieces stays whole. */
export class LiveText {
  readonly #onText: (text: string) => void
  // A byte order mark is output like any other.
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  #bytesLeft = LIVE_BYTES_MAX
  #isOver = false

  constructor(onText: (text: string) => void) {
    this.#onText = onText
  }

  /** Shows the next bytes. */
  take(chunk: Uint8Array): void {
    if (this.#isOver) return
    const shown = chunk.subarray(0, this.#bytesLeft)
    this.#bytesLeft -= shown.length
    this.#show(this.#decoder.decode(shown, { stream: true }))
    if (shown.length === chunk.length) return
    this.#isOver = true
    this.#show(NOTE)
  }

  /** Shows what is left of a character that never became whole. */
  end(): void {
    if (!this.#isOver) this.#show(this.#decoder.decode())
    this.#isOver = true
  }

  #show(text: string): void {
    if (text !== '') this.#onText(text)
  }
}
