const NUL = 0x00
const COLON = 0x3a
const NEWLINE = 0x0a

/** Takes a line that ripgrep found. The bytes belong to it. */
export type LineListener = (path: Buffer, line: number, bytes: Buffer) => void

/** Reads `path NUL number : text newline`, over and over, in chunks that end anywhere. */
export class RipgrepReader {
  readonly #onLine: LineListener
  #rest: Buffer[] = []

  constructor(onLine: LineListener) {
    this.#onLine = onLine
  }

  read(chunk: Buffer): void {
    // A line of megabytes comes in many chunks; they are put together once it is there.
    if (!chunk.includes(NEWLINE)) {
      this.#rest.push(chunk)
      return
    }
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([...this.#rest, chunk])
    let at = 0
    for (;;) {
      // A path may have newlines in it, but no NUL; a text may have both NUL and colons.
      const pathEnd = bytes.indexOf(NUL, at)
      const numberEnd = pathEnd < 0 ? -1 : bytes.indexOf(COLON, pathEnd)
      const lineEnd = numberEnd < 0 ? -1 : bytes.indexOf(NEWLINE, numberEnd)
      if (lineEnd < 0) break
      const line = Number(bytes.toString('latin1', pathEnd + 1, numberEnd))
      this.#onLine(bytes.subarray(at, pathEnd), line, bytes.subarray(numberEnd + 1, lineEnd))
      at = lineEnd + 1
    }
    this.#rest = at < bytes.length ? [bytes.subarray(at)] : []
  }
}
