import type { BlockTeller, EventDeltas } from '../frames/frame-block.ts'
import type { DeltaPlace } from '../frames/make-frame.ts'
import { parseJson, type Json } from '../protocol/json.ts'
import { DeltaForm, type Filling } from '../stream/delta-form.ts'
import { ownText } from '../stream/own-text.ts'
import { deltaKindOf } from './delta-kind.ts'

/** One event of a block, or deltas of one form. */
export interface EventGroup {
  /** The place of its first frame in the block. */
  readonly start: number
  readonly ts: number
  readonly type: string
  readonly deltas: DeltaGroup | null
  /** The text of a single event; null when there are deltas. */
  raw: string | null
}

export function eventGroup(
  start: number,
  ts: number,
  type: string,
  raw: string | null,
  deltas: DeltaGroup | null = null,
): EventGroup {
  return { start, ts, type, deltas, raw }
}

/** Deltas that differ in what stands in the holes of one form. */
export class DeltaGroup implements EventDeltas {
  readonly form: DeltaForm
  /** Of the text that is a frame of its own; null: there is none. */
  readonly place: DeltaPlace | null
  /** What stood in the holes of one after the other. */
  readonly fillings: (string | number)[] = []
  /** Which was the first of another time, and the time; most come by the dozen. */
  #later: number[] | null = null
  #latest: number
  #count = 0

  constructor(form: DeltaForm, place: DeltaPlace | null, ts: number) {
    this.form = form
    this.place = place
    this.#latest = ts
  }

  /** How many frames each has: its own, and that of its text where it has one. */
  get framesEach(): 1 | 2 {
    return this.place === null ? 1 : 2
  }

  /** Adds some that came at a time; gives how many characters there are to keep. */
  add(fillings: Filling, count: number, ts: number): number {
    let chars = 0
    for (let at = 0; at < fillings.length; at += 1) {
      const written = fillings[at] ?? ''
      if (typeof written === 'string') {
        chars += written.length
        this.fillings.push(ownText(written))
      } else this.fillings.push(written)
    }
    if (ts !== this.#latest) {
      this.#later ??= []
      this.#later.push(this.#count, ts)
      this.#latest = ts
    }
    this.#count += count
    return chars
  }

  /** The time of one of them, when the first came at `ts`. */
  timeOf(delta: number, ts: number): number {
    const later = this.#later
    if (later === null) return ts
    for (let at = later.length - 2; at >= 0; at -= 2) {
      if ((later[at] ?? 0) <= delta) return later[at + 1] ?? ts
    }
    return ts
  }

  get textHole(): number {
    return this.form.deltaHole
  }

  textOf(delta: number): string {
    return this.form.deltaOf(this.fillings, delta * this.form.holes)
  }

  /** Tells of those that came at one time together. */
  tell(start: number, firstTs: number, from: number, to: number, teller: BlockTeller): void {
    const { framesEach } = this
    const end = Math.min(this.#count, (to - start) / framesEach)
    for (let delta = (from - start) / framesEach; delta < end;) {
      const next = Math.min(end, this.#laterThan(delta))
      teller.deltas(start + delta * framesEach, this.timeOf(delta, firstTs), this, delta, next - delta)
      delta = next
    }
  }

  /** The first one behind another that came at another time. */
  #laterThan(delta: number): number {
    const later = this.#later ?? NEVER
    for (let at = 0; at < later.length; at += 2) {
      const first = later[at] ?? 0
      if (first > delta) return first
    }
    return this.#count
  }

  /** What it is beside the texts, as JSON. */
  get head(): DeltasHead {
    const { form, place } = this
    const { fixed, deltaHole } = form
    return [this.#count, fixed, deltaHole, place?.item_id ?? null, place?.output_index ?? null, this.#later]
  }

  /** The same deltas again, of what stood in the holes. */
  static of(type: string, head: DeltasHead, fillings: readonly string[]): DeltaGroup {
    const [count, fixed, deltaHole, item_id, output_index, later] = head
    const place = deltaKindOf(type) === null ? null : { item_id, output_index }
    const deltas = new DeltaGroup(new DeltaForm(type, fixed, deltaHole), place, 0)
    deltas.fillings.push(...fillings)
    deltas.#count = count
    deltas.#later = later
    return deltas
  }
}

const NEVER: readonly number[] = []

type DeltasHead = readonly [
  count: number,
  fixed: readonly string[],
  deltaHole: number,
  itemId: string | null,
  outputIndex: number | null,
  later: number[] | null,
]

/** What a group is beside its text, and how long that is. */
type GroupHead = readonly [start: number, ts: number, type: string, length: number, deltas: DeltasHead | null]

// Stands in no filling: those are texts as JSON writes them, and numbers.
const BETWEEN_FILLINGS = '\n'

/** Adds groups to a text in parts: what they are, a line end, and their texts. Gives how many characters that is. */
export function packGroups(groups: readonly EventGroup[], parts: string[]): number {
  const heads: GroupHead[] = []
  const headAt = parts.push('') - 1
  let length = 0
  for (let at = 0; at < groups.length; at += 1) {
    const { start, ts, type, raw, deltas } = groups[at] ?? NO_GROUP
    const text = deltas === null ? (raw ?? '') : deltas.fillings.join(BETWEEN_FILLINGS)
    heads.push([start, ts, type, text.length, deltas === null ? null : deltas.head])
    parts.push(text)
    length += text.length
  }
  const head = `${JSON.stringify(heads)}\n`
  parts[headAt] = head
  return head.length + length
}

const NO_GROUP: EventGroup = eventGroup(0, 0, '', null)

/** The groups of such a text. */
export function unpackGroups(packed: string): readonly EventGroup[] {
  let from = packed.indexOf('\n') + 1
  const heads = parseJson(packed.slice(0, from))
  if (!isHeads(heads)) throw new TypeError('what was packed is not there')
  return heads.map(([start, ts, type, length, head]) => {
    const text = packed.slice(from, from + length)
    from += length
    if (head === null) return eventGroup(start, ts, type, text)
    return eventGroup(start, ts, type, null, DeltaGroup.of(type, head, text.split(BETWEEN_FILLINGS)))
  })
}

// Only what was packed here is unpacked.
function isHeads(value: Json | undefined): value is readonly GroupHead[] & Json {
  return Array.isArray(value)
}
