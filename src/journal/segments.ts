import { Buffer } from 'node:buffer'
import { crc32 } from 'node:zlib'

import type { FrameBlock } from '../frames/frame-block.ts'
import type { Frame } from '../frames/generated/frame.ts'
import { tellLine, type LargeText, type OnLine } from './block-encoder.ts'
import { FrameEncoder } from './frame-codec.ts'
import { packBytes } from './packed-bytes.ts'

/** Some frames of a log, as one row. */
export interface Segment {
  readonly firstSeq: number
  readonly lastSeq: number
  readonly epoch: number
  readonly chain: number
  readonly lines: Buffer
}

/** What is to be appended to a log. */
export interface EncodedLog {
  readonly segments: readonly Segment[]
  readonly texts: readonly LargeText[]
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
  #segments: Segment[] = []
  #texts: LargeText[] = []
  #lines: string[] = []
  /** How many frames the lines are. */
  #frames = 0
  #chars = 0
  /** The last block that was added, and how much of it. */
  #block: FrameBlock | null = null
  #blockEnd = 0
  #chain: number
  /** The number of the first frame that is in no row yet. */
  #nextSeq: number

  constructor(runId: string, epoch: number, end: LogEnd) {
    this.#runId = runId
    this.#epoch = epoch
    this.#encoder = new FrameEncoder(end.body)
    this.#chain = end.chain
    this.#nextSeq = end.frames
  }

  get chain(): number {
    return this.#chain
  }

  /** Adds a frame to what is to be written. */
  add(frame: Frame): void {
    this.#check(frame)
    this.#block = null
    tellLine(this.#encoder.encode(frame), this.#onLine)
  }

  /** The same for the frames of a block from a place up to another. */
  addBlock(block: FrameBlock, from: number, to: number): void {
    const goesOn = block === this.#block && from === this.#blockEnd
    if (to > from && !goesOn) this.#check(block.at(from))
    this.#block = block
    this.#blockEnd = to
    this.#encoder.encodeBlock(block, from, to, this.#onLine)
  }

  #check({ seq, run_id: runId }: Frame): void {
    if (seq === this.#nextSeq + this.#frames && runId === this.#runId) return
    throw new Error(`frame ${seq} of ${runId} is not the next of ${this.#runId}`)
  }

  /** What was added since this was last asked. */
  take(): EncodedLog {
    if (this.#lines.length > 0) this.#cut()
    const [segments, texts] = [this.#segments, this.#texts]
    this.#segments = []
    this.#texts = []
    return { segments, texts }
  }

  readonly #onLine: OnLine = (line, texts, frames) => {
    this.#lines.push(line)
    this.#frames += frames
    if (texts.length > 0) this.#texts.push(...texts)
    this.#chars += line.length
    if (this.#chars >= SEGMENT_CHARS) this.#cut()
  }

  #cut(): void {
    this.#segments.push(this.#segment())
    this.#lines = []
    this.#frames = 0
    this.#chars = 0
  }

  #segment(): Segment {
    const lines = packBytes(Buffer.from(this.#lines.join('\n')))
    const firstSeq = this.#nextSeq
    const lastSeq = firstSeq + this.#frames - 1
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
