import type { Frame } from '../../../frames/generated/frame.ts'
import type { JsonObject } from '../../../protocol/json.ts'
import { Attempts } from './attempts.ts'
import { Blocks } from './blocks.ts'
import { CallRecords } from './call-records.ts'
import { EventRows } from './event-rows.ts'
import { fieldsOf, numberIn, textIn } from './json-fields.ts'
import { RequestRecords } from './request-records.ts'
import { UsageSeries } from './usage-series.ts'

/**
 * Everything that the panels show of a log, in lists that only grow and are in the order of its frames: what stood
 * there at any frame is found by binary search.
 */
export class RunIndex {
  readonly attempts = new Attempts()
  readonly calls = new CallRecords()
  readonly blocks = new Blocks()
  readonly events = new EventRows()
  readonly requests = new RequestRecords()
  readonly usage = new UsageSeries()
  /** The turns, each with the frame that it began with. */
  readonly #turns: { readonly seq: number; readonly turn: number }[] = []
  #length = 0
  #turn = 0

  get turns(): readonly { readonly seq: number; readonly turn: number }[] {
    return this.#turns
  }

  /** How many frames were taken in. */
  get length(): number {
    return this.#length
  }

  /** Takes the next frame in; its place in the log is its number. Never throws, whatever the frame holds. */
  add(frame: Frame): void {
    const seq = this.#length
    const fields = fieldsOf(frame)
    const type = textIn(fields, 'type') ?? ''
    this.#length += 1
    this.#enterTurn(seq, type, fields)
    const calls = this.calls.all.length
    const attempt = this.attempts.add(seq, type, fields)
    if (attempt !== null) this.blocks.push({ seq, turn: this.#turn, kind: 'attempt', attempt })
    this.calls.add(seq, type, fields, this.#turn)
    for (const call of this.calls.all.slice(calls)) {
      this.blocks.push({ seq, turn: this.#turn, kind: 'call', call })
    }
    this.blocks.add(seq, type, fields, this.#turn)
    this.events.add(seq, type, fields)
    this.requests.add(seq, type, fields)
    this.usage.add(seq, type, fields, this.#turn)
  }

  #enterTurn(seq: number, type: string, fields: JsonObject): void {
    if (type !== 'state_entered' && type !== 'request_sent') return
    const turn = numberIn(fields, 'turn')
    if (turn === null || turn === this.#turn) return
    this.#turn = turn
    this.#turns.push({ seq, turn })
  }
}

const indexes = new WeakMap<readonly Frame[], RunIndex>()

/**
 * The index of a list of frames that grows in place. Each frame is looked at once: asked again, it takes in what has
 * come since.
 */
export function deriveIndex(frames: readonly Frame[]): RunIndex {
  let index = indexes.get(frames)
  if (index === undefined) {
    index = new RunIndex()
    indexes.set(frames, index)
  }
  for (let at = index.length; at < frames.length; at += 1) {
    const frame = frames[at]
    if (frame === undefined) break
    index.add(frame)
  }
  return index
}
