import { Buffer } from 'node:buffer'
import { crc32 } from 'node:zlib'

import type { Frame } from '../frames/generated/frame.ts'
import { FrameEncoder, type LargeText } from './frame-codec.ts'
import { packBytes } from './packed-bytes.ts'

/** Some frames of a log, as one row. */
export interface Segment {
  readonly firstSeq: number
  readonly lastSeq: number
  readonly epoch: number
  readonly chain: number
  readonly lines: Buffer
}

/** Where a log ends. */
export interface LogEnd {
  /** How many frames it has: the number of the next one. */
  readonly frames: number
  /** The checksum of its last row; 0 when there is none. */
  readonly chain: number
  /** The body of its last request; '' when there is none. */
  readonly body: string
}

export const EMPTY_LOG: LogEnd = { frames: 0, chain: 0, body: '' }

// A row is read as a whole: long ones would make a reader of the first frame wait for all.
const SEGMENT_CHARS = 256 * 1024

/** Cuts the frames of one run into rows. */
export class SegmentEncoder {
  readonly #runId: string
  readonly #epoch: number
  readonly #encoder: FrameEncoder
  #chain: number
  #nextSeq: number

  constructor(runId: string, epoch: number, end: LogEnd) {
    this.#runId = runId
    this.#epoch = epoch
    this.#encoder = new FrameEncoder(end.body)
    this.#chain = end.chain
    this.#nextSeq = end.frames
  }

  get nextSeq(): number {
    return this.#nextSeq
  }

  get chain(): number {
    return this.#chain
  }

  encode(frames: readonly Frame[]): {
    readonly segments: readonly Segment[]
    readonly texts: readonly LargeText[]
  } {
    const segments: Segment[] = []
    const texts: LargeText[] = []
    let lines: string[] = []
    let chars = 0
    for (const frame of frames) {
      if (frame.seq !== this.#nextSeq + lines.length || frame.run_id !== this.#runId) {
        throw new Error(`frame ${frame.seq} of ${frame.run_id} is not the next of ${this.#runId}`)
      }
      const encoded = this.#encoder.encode(frame)
      lines.push(encoded.line)
      texts.push(...encoded.texts)
      chars += encoded.line.length
      if (chars < SEGMENT_CHARS) continue
      segments.push(this.#segment(lines))
      ;[lines, chars] = [[], 0]
    }
    if (lines.length > 0) segments.push(this.#segment(lines))
    return { segments, texts }
  }

  #segment(joined: readonly string[]): Segment {
    const lines = packBytes(Buffer.from(joined.join('\n')))
    const firstSeq = this.#nextSeq
    const lastSeq = firstSeq + joined.length - 1
    const place = { firstSeq, lastSeq, epoch: this.#epoch }
    this.#chain = chainOf(this.#runId, place, lines, this.#chain)
    this.#nextSeq = lastSeq + 1
    return { ...place, chain: this.#chain, lines }
  }
}

/** The checksum of a row and of all rows before it. */
export function chainOf(
  runId: string,
  { firstSeq, lastSeq, epoch }: Pick<Segment, 'firstSeq' | 'lastSeq' | 'epoch'>,
  lines: Uint8Array,
  before: number,
): number {
  return crc32(lines, crc32(`${runId}/${firstSeq}/${lastSeq}/${epoch}`, before))
}
