import type { Buffer } from 'node:buffer'

import type { BlockTeller, EventDeltas, EventForm, FrameBlock } from '../frames/frame-block.ts'
import type { Frame } from '../frames/generated/frame.ts'
import type { RepeatWriter } from './repeat-writer.ts'

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

/** Takes the line of the next frame, or of so many. */
export type OnLine = (line: string, texts: readonly LargeText[], frames: number) => void

export const NOTHING: readonly LargeText[] = []

export function tellLine({ line, texts }: EncodedFrame, onLine: OnLine): void {
  onLine(line, texts, 1)
}

/**
 * Writes the frames of one block without making them. Each is like the one before but for what differs; only the first of
 * each kind is made and written as a frame, so that it is known what it is like.
 */
export class BlockEncoder implements BlockTeller {
  readonly #block: FrameBlock
  readonly #repeated: RepeatWriter
  readonly #encode: (frame: Frame) => EncodedFrame
  #onLine: OnLine = ignore
  #end = 0
  /** The last event that was told, and the last text: where it is in the block, when it came. */
  #event = -1
  #eventTs = 0
  #eventType = ''
  #form: EventForm | null = null
  #text: { readonly index: number; readonly ts: number; readonly type: Frame['type'] } | null = null
  /** What the texts of the form are, once one of them was written; their place is that of its frame. */
  #textType: Frame['type'] | null = null

  constructor(block: FrameBlock, repeated: RepeatWriter, encode: (frame: Frame) => EncodedFrame) {
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
    // An encoder lives as long as its run, and whose lines these are need not.
    this.#onLine = ignore
  }

  /** Frames are compared with the last of their type: those that were written without one are said here. */
  catchUp(): void {
    if (this.#event !== -1) this.#repeated.seeEvent(this.#block, this.#event)
    if (this.#text !== null) this.#repeated.seeText(this.#block, this.#text.index, this.#text.type)
  }

  event(index: number, ts: number, type: string, raw: string): void {
    const line =
      this.#event === -1
        ? this.#firstLine(ts, type, raw)
        : this.#repeated.writeEvent(ts - this.#eventTs, this.#eventType, type, raw, LARGE_TEXT)
    if (line === null) this.#writeFrame(index)
    else this.#onLine(line, NOTHING, 1)
    this.#told(index, ts, type)
  }

  deltas(index: number, ts: number, deltas: EventDeltas, from: number, count: number): void {
    const { form, framesEach } = deltas
    // Another form may be that of another item.
    if (form !== this.#form) this.#textType = null
    this.#form = form
    const end = from + count
    for (let at = from; at < end;) {
      const place = index + (at - from) * framesEach
      const next = this.#togetherUntil(deltas, at, end)
      if (next - at < 2) this.#one(place, ts, deltas, at)
      else this.#together(place, ts, deltas, at, next)
      at = Math.max(next, at + 1)
    }
  }

  /**
   * Up to where deltas may be in one line, for which the form and the place of the texts have to be known already. How
   * many they are is told by what is in their holes.
   */
  #togetherUntil(deltas: EventDeltas, from: number, end: number): number {
    const { form, fillings, framesEach, textHole } = deltas
    const holes = form.fixed.length - 1
    const isKnown = this.#event !== -1 && this.#repeated.hasForm(form)
    if (!isKnown || holes === 0) return from
    if (framesEach === 2 && (this.#textType === null || textHole === -1)) return from
    let chars = 0
    for (let at = from; at < end; at += 1) {
      for (let hole = 0; hole < holes; hole += 1) {
        const filling = fillings[at * holes + hole]
        if (typeof filling === 'string') chars += filling.length
        else if (framesEach === 2 && hole === textHole) return at
      }
      if (chars > LARGE_TEXT) return at
    }
    return end
  }

  #together(index: number, ts: number, deltas: EventDeltas, from: number, to: number): void {
    const { framesEach } = deltas
    const textType = framesEach === 2 ? this.#textType : null
    const line = this.#repeated.writeDeltas(ts - this.#eventTs, deltas, from, to, textType)
    this.#onLine(line, NOTHING, (to - from) * framesEach)
    const last = index + (to - from - 1) * framesEach
    this.#told(last, ts, deltas.form.type)
    if (textType !== null) this.#text = { index: last + 1, ts, type: textType }
  }

  #one(index: number, ts: number, deltas: EventDeltas, at: number): void {
    const { form, fillings, framesEach } = deltas
    const from = at * (form.fixed.length - 1)
    if (this.#event === -1 || isLong(deltas, from)) this.#writeFrame(index)
    else this.#onLine(this.#repeated.writeDelta(ts - this.#eventTs, form, fillings, from), NOTHING, 1)
    this.#told(index, ts, form.type)
    if (framesEach === 2) this.#oneText(index + 1, ts, deltas.textOf(at))
  }

  #oneText(index: number, ts: number, text: string): void {
    const last = this.#text
    let type = this.#textType
    if (type === null || last === null || text.length > LARGE_TEXT) ({ type } = this.#writeFrame(index))
    else this.#onLine(this.#repeated.writeText(ts - last.ts, type, text), NOTHING, 1)
    this.#textType = type
    this.#text = { index, ts, type }
  }

  #firstLine(ts: number, type: string, raw: string): string | null {
    const { turn, attempt } = this.#block
    if (turn === undefined || attempt === undefined) return null
    return this.#repeated.writePlainEvent({ ts, turn, attempt, name: type, raw }, LARGE_TEXT)
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

function isLong({ form, fillings }: EventDeltas, from: number): boolean {
  for (let hole = 0; hole < form.fixed.length - 1; hole += 1) {
    const filling = fillings[from + hole]
    if (typeof filling === 'string' && filling.length > LARGE_TEXT) return true
  }
  return false
}

function ignore(): void {
  // Until somebody listens.
}
