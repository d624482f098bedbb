import type { FrameBlock } from '../frames/frame-block.ts'
import type { FrameStamp } from '../frames/frame-stamp.ts'
import type { Frame } from '../frames/generated/frame.ts'
import { deltaFrame, plainEventFrame, type DeltaKind, type DeltaPlace } from '../frames/make-frame.ts'
import type { DeltaTemplate } from '../stream/delta-template.ts'
import { ownText } from '../stream/own-text.ts'
import { deltaKindOf, deltaPlaceOf } from './delta-kind.ts'

// A log that keeps only its latest frames lets go of whole blocks.
const EVENTS_MAX = 256

/**
 * The frames of deltas that came one after the other and differ only in what one template cuts out: of each there is a
 * number and a word or two, and its frames are made when somebody reads them.
 */
export class DeltaRun implements FrameBlock {
  readonly #first: number
  readonly #template: DeltaTemplate
  readonly #runId: string
  readonly #turn: number
  readonly #attempt: number
  readonly #kind: DeltaKind | null
  readonly #place: DeltaPlace
  /** What stood in the holes of one event after the other. */
  readonly #fillings: (string | number)[] = []
  /** Which event was the first of a time, and the time; most come by the dozen. */
  readonly #timeFrom: number[] = []
  readonly #times: number[] = []
  #events = 0

  constructor(template: DeltaTemplate, stamp: FrameStamp, turn: number, attempt: number) {
    this.#first = stamp.next
    this.#template = template
    this.#runId = stamp.runId
    this.#turn = turn
    this.#attempt = attempt
    this.#kind = deltaKindOf(template.type)
    this.#place = deltaPlaceOf(template.event)
  }

  get length(): number {
    return this.#events * this.#framesEach
  }

  /** How many frames each event has: its own, and that of its text where it has one. */
  get #framesEach(): 1 | 2 {
    return this.#kind === null ? 1 : 2
  }

  /** Whether the event that a template has just matched goes on from here. */
  canTake(template: DeltaTemplate, stamp: FrameStamp): boolean {
    return (
      template === this.#template && this.#events < EVENTS_MAX && stamp.next === this.#first + this.length
    )
  }

  /** Adds the event that the template has just matched; gives the number of frames that makes. */
  add(stamp: FrameStamp): number {
    const { filling } = this.#template
    for (let hole = 0; hole < filling.length; hole += 1) {
      const written = filling[hole] ?? ''
      this.#fillings.push(typeof written === 'string' ? ownText(written) : written)
    }
    if (this.#times.at(-1) !== stamp.ts) {
      this.#timeFrom.push(this.#events)
      this.#times.push(stamp.ts)
    }
    this.#events += 1
    stamp.seq()
    if (this.#kind !== null) stamp.seq()
    return this.#framesEach
  }

  at(index: number): Frame {
    const event = Math.floor(index / this.#framesEach)
    const from = event * this.#template.filling.length
    const place = { runId: this.#runId, seq: this.#first + index, ts: this.#timeOf(event) }
    if (this.#kind !== null && index % 2 === 1) {
      return deltaFrame(place, this.#kind, this.#template.deltaOf(this.#fillings, from), this.#place)
    }
    const raw = this.#template.textOf(this.#fillings, from)
    return plainEventFrame(place, this.#turn, this.#attempt, this.#template.type, raw)
  }

  #timeOf(event: number): number {
    let at = this.#timeFrom.length - 1
    while (at > 0 && (this.#timeFrom[at] ?? 0) > event) at -= 1
    return this.#times[at] ?? 0
  }
}
