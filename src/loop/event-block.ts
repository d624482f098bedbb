import { Buffer } from 'node:buffer'

import type { BlockTeller, FrameBlock } from '../frames/frame-block.ts'
import type { FrameStamp } from '../frames/frame-stamp.ts'
import type { Frame } from '../frames/generated/frame.ts'
import { deltaFrame, plainEventFrame, type DeltaKind, type DeltaPlace } from '../frames/make-frame.ts'
import type { DeltaTemplate, Filling } from '../stream/delta-template.ts'
import { ownText } from '../stream/own-text.ts'
import { deltaKindOf, deltaPlaceOf } from './delta-kind.ts'

// A log that keeps only its latest frames lets go of whole blocks.
const EVENTS_MAX = 256
// Nor may its texts become longer together than a text can be.
const CHARS_MAX = 4 * 1024 * 1024
// Stands in no filling: those are texts as JSON writes them, and numbers.
const BETWEEN_FILLINGS = '\n'

/**
 * The frames of events that there is nothing to say about, one after the other: of each its text, and of deltas that
 * differ only in what a template cuts out, what stood in its holes. Frames are made when somebody reads them.
 *
 * Once sealed, the texts are bytes outside of the heap. Most of what a run keeps is these, nobody may look at them
 * again, and a text that lives is copied twice by the collector and counts for how much memory it gives itself.
 */
export class EventBlock implements FrameBlock {
  readonly #first: number
  readonly #runId: string
  readonly #turn: number
  readonly #attempt: number
  readonly #groups: EventGroup[] = []
  #latest: Deltas | null = null
  #length = 0
  #events = 0
  #chars = 0
  #kept = 0
  /** The texts of all groups, one behind the other. */
  #bytes: Buffer | null = null

  constructor(stamp: FrameStamp, turn: number, attempt: number) {
    this.#first = stamp.next
    this.#runId = stamp.runId
    this.#turn = turn
    this.#attempt = attempt
  }

  get length(): number {
    return this.#length
  }

  /** Whether the next frame of the log may be one of this block. */
  canTake(stamp: FrameStamp): boolean {
    const hasRoom = this.#events < EVENTS_MAX && this.#chars < CHARS_MAX
    return this.#bytes === null && hasRoom && stamp.next === this.#first + this.#length
  }

  /** Adds an event of its exact text; gives the number of frames that makes. */
  addEvent(type: string, raw: string, stamp: FrameStamp): number {
    this.#groups.push({ start: this.#length, ts: stamp.ts, type, deltas: null, raw, end: 0 })
    stamp.seq()
    return this.#grow(1, 1, raw.length)
  }

  /** Adds events that a template has matched; gives the number of frames that makes. */
  addDeltas(template: DeltaTemplate, fillings: Filling, count: number, stamp: FrameStamp): number {
    const { ts } = stamp
    let deltas = this.#latest
    if (deltas?.template !== template || this.#groups.at(-1)?.deltas !== deltas) {
      deltas = new Deltas(template, ts)
      this.#latest = deltas
      this.#groups.push({ start: this.#length, ts, type: template.type, deltas, raw: null, end: 0 })
    }
    deltas.add(fillings, count, ts)
    const frames = deltas.framesEach * count
    stamp.take(frames)
    return this.#grow(count, frames, charsOf(fillings))
  }

  #grow(events: number, frames: number, chars: number): number {
    this.#events += events
    this.#chars += chars
    this.#length += frames
    return frames
  }

  /** What was added may stay for a while: it keeps nothing else in memory. */
  keep(): void {
    for (; this.#kept < this.#groups.length; this.#kept += 1) {
      const group = this.#groups[this.#kept]
      if (group !== undefined && group.raw !== null) group.raw = ownText(group.raw)
    }
  }

  /** Nothing will be added. */
  seal(): void {
    if (this.#bytes !== null) return
    let text = ''
    for (let at = 0; at < this.#groups.length; at += 1) {
      const group = this.#groups[at]
      if (group === undefined) break
      text += group.raw ?? group.deltas?.pack() ?? ''
      group.raw = null
      group.end = text.length
    }
    // Not of the pool: what lives as long as a run would keep what others have of it.
    const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text))
    bytes.write(text)
    this.#bytes = bytes
  }

  at(index: number): Frame {
    const at = this.#groupOf(index)
    const group = this.#groups[at]
    if (group === undefined) throw new RangeError(`the block has no frame ${index}`)
    const { type, ts, deltas } = group
    const seq = this.#first + index
    if (deltas === null) {
      const place = { runId: this.#runId, seq, ts }
      return plainEventFrame(place, this.#turn, this.#attempt, type, group.raw ?? this.#textOf(at))
    }
    const { template, kind, framesEach } = deltas
    const delta = Math.floor((index - group.start) / framesEach)
    const place = { runId: this.#runId, seq, ts: deltas.timeOf(delta, ts) }
    const fillings = deltas.fillings ?? this.#fillingsOf(at)
    const from = delta * template.filling.length
    if (kind !== null && deltas.place !== null && (index - group.start) % 2 === 1) {
      return deltaFrame(place, kind, template.deltaOf(fillings, from), deltas.place)
    }
    return plainEventFrame(place, this.#turn, this.#attempt, type, template.textOf(fillings, from))
  }

  tell(from: number, to: number, teller: BlockTeller): void {
    for (let at = this.#groupOf(from); at < this.#groups.length; at += 1) {
      const group = this.#groups[at]
      if (group === undefined || group.start >= to) return
      const { start, ts, type, deltas } = group
      if (deltas === null) teller.event(start, ts, type, group.raw ?? this.#textOf(at))
      else this.#tellDeltas(at, group, deltas, Math.max(from, start), to, teller)
    }
  }

  #tellDeltas(
    at: number,
    { start, ts: firstTs }: EventGroup,
    deltas: Deltas,
    from: number,
    to: number,
    teller: BlockTeller,
  ): void {
    const { template, kind, framesEach, count } = deltas
    const fillings = deltas.fillings ?? this.#fillingsOf(at)
    const end = Math.min(count, (to - start) / framesEach)
    for (let delta = (from - start) / framesEach; delta < end; delta += 1) {
      const index = start + delta * framesEach
      const ts = deltas.timeOf(delta, firstTs)
      const filled = delta * template.filling.length
      teller.delta(index, ts, template, fillings, filled)
      if (kind !== null) teller.text(index + 1, ts, template.deltaOf(fillings, filled))
    }
  }

  /** The last group that begins at a frame or before it. */
  #groupOf(index: number): number {
    let [low, high] = [0, this.#groups.length - 1]
    while (low < high) {
      const middle = Math.ceil((low + high) / 2)
      if ((this.#groups[middle]?.start ?? 0) <= index) low = middle
      else high = middle - 1
    }
    return low
  }

  #textOf(at: number): string {
    if (unpacked?.block !== this)
      unpacked = { block: this, texts: this.#bytes?.toString() ?? '', at: -1, fillings: [] }
    return unpacked.texts.slice(this.#groups[at - 1]?.end ?? 0, this.#groups[at]?.end)
  }

  #fillingsOf(at: number): Filling {
    const text = this.#textOf(at)
    if (unpacked?.at !== at) {
      unpacked = { block: this, texts: unpacked?.texts ?? '', at, fillings: text.split(BETWEEN_FILLINGS) }
    }
    return unpacked.fillings
  }
}

/** What was last read of a sealed block: who reads one of its frames reads the next one, too. */
let unpacked: {
  readonly block: EventBlock
  readonly texts: string
  /** The group whose fillings these are. */
  readonly at: number
  readonly fillings: Filling
} | null = null

function charsOf(filling: Filling): number {
  let chars = 0
  for (let hole = 0; hole < filling.length; hole += 1) {
    const written = filling[hole]
    if (typeof written === 'string') chars += written.length
  }
  return chars
}

/** One event, or deltas of one template. */
interface EventGroup {
  /** The place of its first frame in the block. */
  readonly start: number
  readonly ts: number
  readonly type: string
  readonly deltas: Deltas | null
  /** The text of a single event; null: it is packed, or there are deltas. */
  raw: string | null
  /** Where its text ends among the packed ones. */
  end: number
}

/** Deltas that differ in what one template cuts out. */
class Deltas {
  readonly template: DeltaTemplate
  readonly kind: DeltaKind | null
  readonly place: DeltaPlace | null
  /** What stood in the holes of one after the other; null: it is packed. */
  fillings: (string | number)[] | null = []
  count = 0
  /** Which was the first of another time, and the time; most come by the dozen. */
  #later: number[] | null = null
  #latest: number

  constructor(template: DeltaTemplate, ts: number) {
    this.template = template
    this.kind = deltaKindOf(template.type)
    this.place = this.kind === null ? null : deltaPlaceOf(template.event)
    this.#latest = ts
  }

  /** How many frames each has: its own, and that of its text where it has one. */
  get framesEach(): 1 | 2 {
    return this.kind === null ? 1 : 2
  }

  add(fillings: Filling, count: number, ts: number): void {
    for (let at = 0; at < fillings.length; at += 1) {
      const written = fillings[at] ?? ''
      this.fillings?.push(typeof written === 'string' ? ownText(written) : written)
    }
    if (ts !== this.#latest) {
      this.#later ??= []
      this.#later.push(this.count, ts)
      this.#latest = ts
    }
    this.count += count
  }

  /** The time of one of them, when the first came at `ts`. */
  timeOf(delta: number, ts: number): number {
    const later = this.#later ?? NONE
    for (let at = later.length - 2; at >= 0; at -= 2) {
      if ((later[at] ?? 0) <= delta) return later[at + 1] ?? ts
    }
    return ts
  }

  /** Gives what stood in the holes away, as one text. */
  pack(): string {
    const text = this.fillings?.join(BETWEEN_FILLINGS) ?? ''
    this.fillings = null
    return text
  }
}

const NONE: readonly number[] = []
