import type { Frame } from '../../../frames/generated/frame.ts'
import { rawEvent, type EventRows } from './event-rows.ts'
import { fieldsOf, textIn } from './json-fields.ts'

/** Which events are wanted. */
interface EventQuery {
  /** Part of a name or of the text; upper and lower case are the same. */
  readonly text: string
  readonly isMarkedOnly: boolean
}

/** The events that fit a query; looks at each event once, also while more of them come. */
export class EventFilter {
  readonly #frames: readonly Frame[]
  readonly #rows: EventRows
  readonly #query: EventQuery
  readonly #pattern: RegExp | null
  readonly #found: number[] = []
  #next = 0

  constructor(frames: readonly Frame[], rows: EventRows, query: EventQuery) {
    this.#frames = frames
    this.#rows = rows
    this.#query = query
    const text = query.text.trim()
    this.#pattern =
      text === '' ? null : new RegExp(text.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`), 'i')
  }

  /** Frames of the events that fit. */
  seqs(): readonly number[] {
    const { seqs, marks } = this.#rows
    if (this.#pattern === null && !this.#query.isMarkedOnly) return seqs
    for (; this.#next < seqs.length; this.#next += 1) {
      const seq = seqs[this.#next]
      if (seq === undefined || (this.#query.isMarkedOnly && marks[this.#next] === 'none')) continue
      if (this.#isFit(this.#frames[seq])) this.#found.push(seq)
    }
    return this.#found
  }

  #isFit(frame: Frame | undefined): boolean {
    const pattern = this.#pattern
    if (pattern === null) return true
    return pattern.test(textIn(fieldsOf(frame), 'event_name') ?? '') || pattern.test(rawEvent(frame).text)
  }
}
