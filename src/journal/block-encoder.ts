import type { Buffer } from 'node:buffer'

import type { BlockTeller, EventFillings, EventForm, FrameBlock } from '../frames/frame-block.ts'
import type { Frame } from '../frames/generated/frame.ts'
import type { RepeatedFrames } from './repeated-frame.ts'

/** Texts longer than this are kept once for all frames that have them. */
export const LARGE_TEXT = 64 * 1024

/** A text that is kept beside the lines, under the hash of its bytes. */
export interface LargeText {
  readonly hash: string
  readonly bytes: Buffer
}

/** A frame as it is stored: one line, without its end. */
export interface EncodedFrame {
  readonly line: string
  readonly texts: readonly LargeText[]
}

/** Takes the line of the next frame. */
export type OnLine = (line: string, texts: readonly LargeText[]) => void

export const NOTHING: readonly LargeText[] = []

export function tellLine({ line, texts }: EncodedFrame, onLine: OnLine): void {
  onLine(line, texts)
}

/**
 * Writes the frames of one block without making them. Each is like the one before but for what differs; only the first of
 * each kind is made and written as a frame, so that it is known what it is like.
 */
export class BlockEncoder implements BlockTeller {
  readonly #block: FrameBlock
  readonly #repeated: RepeatedFrames
  readonly #encode: (frame: Frame) => EncodedFrame
  #onLine: OnLine = ignore
  #end = 0
  /** The last event that was told, and the last text: where they are in the block, when they came. */
  #event = -1
  #eventTs = 0
  #eventType = ''
  #form: EventForm | null = null
  #text = -1
  #textTs = 0
  #textType: Frame['type'] | null = null

  constructor(block: FrameBlock, repeated: RepeatedFrames, encode: (frame: Frame) => EncodedFrame) {
    this.#block = block
    this.#repeated = repeated
    this.#encode = encode
  }

  /** Whether the next frames are those of the same block, behind what was written of it. */
  goesOn(block: FrameBlock, from: number): boolean {
    return block === this.#block && from === this.#end
  }

  encode(from: number, to: number, onLine: OnLine): void {
    this.#onLine = onLine
    this.#block.tell?.(from, to, this)
    this.#end = to
  }

  /** Frames are compared with the last of their type: what was written without one is made now. */
  catchUp(): void {
    if (this.#event !== -1) this.#repeated.see(this.#block.at(this.#event))
    if (this.#text !== -1) this.#repeated.see(this.#block.at(this.#text))
  }

  event(index: number, ts: number, type: string, raw: string): void {
    const line =
      this.#event === -1
        ? null
        : this.#repeated.writeEvent(ts - this.#eventTs, this.#eventType, type, raw, LARGE_TEXT)
    if (line === null) this.#writeFrame(index)
    else this.#onLine(line, NOTHING)
    this.#told(index, ts, type)
  }

  delta(index: number, ts: number, form: EventForm, fillings: EventFillings, from: number): void {
    // Another form may be that of another item.
    if (form !== this.#form) this.#textType = null
    this.#form = form
    if (this.#event === -1 || isLong(form, fillings, from)) this.#writeFrame(index)
    else this.#onLine(this.#repeated.writeDelta(ts - this.#eventTs, form, fillings, from), NOTHING)
    this.#told(index, ts, form.type)
  }

  text(index: number, ts: number, delta: string): void {
    if (this.#textType === null || delta.length > LARGE_TEXT) {
      this.#textType = this.#writeFrame(index).type
    } else this.#onLine(this.#repeated.writeText(ts - this.#textTs, this.#textType, delta), NOTHING)
    this.#text = index
    this.#textTs = ts
  }

  #told(index: number, ts: number, type: string): void {
    this.#event = index
    this.#eventTs = ts
    this.#eventType = type
  }

  #writeFrame(index: number): Frame {
    this.catchUp()
    const frame = this.#block.at(index)
    tellLine(this.#encode(frame), this.#onLine)
    return frame
  }
}

function isLong(form: EventForm, fillings: EventFillings, from: number): boolean {
  for (let hole = 0; hole < form.fixed.length - 1; hole += 1) {
    const filling = fillings[from + hole]
    if (typeof filling === 'string' && filling.length > LARGE_TEXT) return true
  }
  return false
}

function ignore(): void {
  // Until somebody listens.
}
