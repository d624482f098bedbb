import type { BlockTeller, FrameBlock } from '../frames/frame-block.ts'
import type { FrameStamp } from '../frames/frame-stamp.ts'
import type { Frame } from '../frames/generated/frame.ts'
import { deltaFrame, plainEventFrame } from '../frames/make-frame.ts'
import { PackedText } from '../frames/packed-text.ts'
import type { JsonObject } from '../protocol/json.ts'
import type { DeltaForm, Filling } from '../stream/delta-form.ts'
import { ownText } from '../stream/own-text.ts'
import { deltaKindOf, deltaPlaceOf } from './delta-kind.ts'
import { DeltaGroup, eventGroup, packGroups, unpackGroups, type EventGroup } from './event-groups.ts'

// A log that keeps only its latest frames lets go of whole blocks.
const EVENTS_MAX = 256
// Nor may its texts become longer together than a text can be.
const CHARS_MAX = 4 * 1024 * 1024

/**
 * The frames of events that there is nothing to say about, one after the other: of each its text, and of deltas that
 * differ only in what stands in the holes of a form, what stood there. Frames are made when somebody reads them. Once
 * sealed, all of it is outside of the heap.
 */
export class EventBlock implements FrameBlock {
  readonly #first: number
  readonly #runId: string
  readonly #turn: number
  readonly #attempt: number
  /** None once they are packed. */
  #groups: EventGroup[] = []
  #length = 0
  #events = 0
  #chars = 0
  #kept = 0
  #packed: PackedText | null = null
  #from = 0
  #to = 0

  constructor(stamp: FrameStamp, turn: number, attempt: number) {
    this.#first = stamp.next
    this.#runId = stamp.runId
    this.#turn = turn
    this.#attempt = attempt
  }

  get length(): number {
    return this.#length
  }

  get turn(): number {
    return this.#turn
  }

  get attempt(): number {
    return this.#attempt
  }

  get isFull(): boolean {
    return this.#events >= EVENTS_MAX || this.#chars >= CHARS_MAX
  }

  /** Whether the next frame of the log may be one of this block. */
  canTake(stamp: FrameStamp): boolean {
    return this.#packed === null && !this.isFull && stamp.next === this.#first + this.#length
  }

  /** Adds an event of its exact text; gives the number of frames that makes. */
  addEvent(type: string, raw: string, stamp: FrameStamp): number {
    this.#groups.push(eventGroup(this.#length, stamp.ts, type, raw))
    stamp.seq()
    return this.#grow(1, 1, raw.length)
  }

  /** Adds events of one form, of which one is given; gives the number of frames that makes. */
  addDeltas(event: JsonObject, form: DeltaForm, fillings: Filling, count: number, stamp: FrameStamp): number {
    const { ts } = stamp
    let deltas = this.#groups.at(-1)?.deltas ?? null
    if (deltas?.form !== form) {
      const place = deltaKindOf(form.type) === null ? null : deltaPlaceOf(event)
      deltas = new DeltaGroup(form, place, ts)
      this.#groups.push(eventGroup(this.#length, ts, form.type, null, deltas))
    }
    const chars = deltas.add(fillings, count, ts)
    const frames = deltas.framesEach * count
    stamp.take(frames)
    return this.#grow(count, frames, chars)
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

  /** Nothing will be added to any of these: what they have is put outside of the heap, in one piece. */
  static seal(blocks: readonly EventBlock[]): void {
    const parts: string[] = []
    let from = 0
    for (const block of blocks) {
      block.#from = from
      from += packGroups(block.#groups, parts)
      block.#to = from
    }
    const packed = new PackedText(parts)
    for (const block of blocks) {
      block.#packed = packed
      block.#groups = NONE
    }
  }

  at(index: number): Frame {
    const frames: Frame[] = []
    this.addTo(frames, index, index + 1)
    const [frame] = frames
    if (frame === undefined) throw new RangeError(`the block has no frame ${index}`)
    return frame
  }

  addTo(frames: Frame[], from: number, to: number): void {
    const groups = this.#allGroups()
    let seen = from
    for (let at = groupOf(groups, from); at < groups.length && seen < to; at += 1) {
      const group = groups[at]
      if (group === undefined) break
      const end = Math.min(to, groups[at + 1]?.start ?? this.#length)
      if (group.deltas === null) frames.push(this.#eventFrame(seen, group.ts, group.type, group.raw ?? ''))
      else this.#addDeltasTo(frames, group, group.deltas, seen, end)
      seen = end
    }
  }

  #addDeltasTo(
    frames: Frame[],
    { start, ts: firstTs, type }: EventGroup,
    deltas: DeltaGroup,
    from: number,
    to: number,
  ): void {
    const { form, fillings, framesEach, place } = deltas
    const kind = deltaKindOf(type)
    for (let index = from; index < to; index += 1) {
      const delta = Math.floor((index - start) / framesEach)
      const ts = deltas.timeOf(delta, firstTs)
      const filled = delta * form.holes
      if (kind !== null && place !== null && (index - start) % 2 === 1) {
        const at = { runId: this.#runId, seq: this.#first + index, ts }
        frames.push(deltaFrame(at, kind, form.deltaOf(fillings, filled), place))
      } else frames.push(this.#eventFrame(index, ts, type, form.textOf(fillings, filled)))
    }
  }

  #eventFrame(index: number, ts: number, type: string, raw: string): Frame {
    return plainEventFrame(this.#runId, this.#first + index, ts, this.#turn, this.#attempt, type, raw)
  }

  tell(from: number, to: number, teller: BlockTeller): void {
    const groups = this.#allGroups()
    for (let at = groupOf(groups, from); at < groups.length; at += 1) {
      const group = groups[at]
      if (group === undefined || group.start >= to) return
      const { start, ts, type, deltas, raw } = group
      if (deltas === null) teller.event(start, ts, type, raw ?? '')
      else deltas.tell(start, ts, Math.max(from, start), to, teller)
    }
  }

  #allGroups(): readonly EventGroup[] {
    const packed = this.#packed
    if (packed === null) return this.#groups
    if (unpacked?.block !== this)
      unpacked = { block: this, groups: unpackGroups(packed.slice(this.#from, this.#to)) }
    return unpacked.groups
  }
}

const NONE: EventGroup[] = []

/** What was last read of a packed block: who reads one of its frames reads the next one, too. */
let unpacked: { readonly block: EventBlock; readonly groups: readonly EventGroup[] } | null = null

/** The last group that begins at a frame or before it. */
function groupOf(groups: readonly EventGroup[], index: number): number {
  let low = 0
  let high = groups.length - 1
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if ((groups[middle]?.start ?? 0) <= index) low = middle
    else high = middle - 1
  }
  return low
}
