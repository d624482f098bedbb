import { isUtf8 } from 'node:buffer'

import { LoopchartError } from '../../errors.ts'

/** A line longer than this is not searched: no engine may spend seconds on one. */
export const LINE_BYTES_MAX = 64 * 1024

const HITS_MAX = 200_000
const BYTES_MAX = 64 * 1024 * 1024

/** A line that matches. */
export interface Hit {
  /** From 1 on. */
  readonly line: number
  /** The line without its newline, as it was when it matched. */
  readonly bytes: Uint8Array
}

/** The lines of a file that match, in order. */
export interface FileHits {
  /** Relative to the workspace. */
  readonly path: string
  readonly hits: readonly Hit[]
}

/** Whether a line can match at all: it is text, and not huge. */
export function isSearchableLine(bytes: Uint8Array): boolean {
  return bytes.length <= LINE_BYTES_MAX && isUtf8(bytes)
}

/** What a search finds, from whichever engine and in whichever order. */
export class HitList {
  readonly #files = new Map<string, Hit[]>()
  #count = 0
  #bytes = 0

  get count(): number {
    return this.#count
  }

  /** Throws `search_failed` when it has become too much to be of any use. */
  add(path: string, hit: Hit): void {
    this.#count += 1
    this.#bytes += hit.bytes.length
    if (this.#count > HITS_MAX || this.#bytes > BYTES_MAX) {
      throw new LoopchartError('search_failed', 'too many lines match, narrow the pattern or the path')
    }
    const hits = this.#files.get(path)
    if (hits === undefined) this.#files.set(path, [hit])
    else hits.push(hit)
  }

  /** By path in the order of code points, whatever the order in which they were found. */
  sorted(): readonly FileHits[] {
    return Array.from(this.#files, ([path, hits]) => ({ path, hits })).sort((a, b) => compare(a.path, b.path))
  }
}

/** By code points. The order of `<` is that of UTF-16, in which U+1F600, as a pair of surrogates, is before U+E000. */
function compare(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let at = 0; at < length; at += 1) {
    const first = a.charCodeAt(at)
    const second = b.charCodeAt(at)
    if (first === second) continue
    // A surrogate is half of a code point above all those that are one unit.
    if (isSurrogate(first) !== isSurrogate(second)) return isSurrogate(first) ? 1 : -1
    return first - second
  }
  return a.length - b.length
}

function isSurrogate(unit: number): boolean {
  return (unit & 0xf8_00) === 0xd8_00
}
