import type { JsonObject } from '../protocol/json.ts'
import type { NoteAnomaly } from './anomaly.ts'

/**
 * Watches `sequence_number`. The order of arrival rules; what it says against that is only noted.
 *
 * Open Responses, "Streaming": the numbers grow over one response. A provider that never sends them is noted
 * once, not on each event.
 */
export class SequenceCheck {
  #last: number | null = null
  #isMissingNoted = false

  /** The number that was seen last; null: there was none yet. */
  get last(): number | null {
    return this.#last
  }

  /** So many events came that had the numbers behind the last. */
  advance(count: number): void {
    if (this.#last !== null) this.#last += count
  }

  check(type: string, event: JsonObject, note: NoteAnomaly): void {
    const number = event['sequence_number']
    if (typeof number !== 'number' || !Number.isInteger(number)) {
      if (!this.#isMissingNoted) note('sequence_missing', 'no sequence_number')
      this.#isMissingNoted = true
      return
    }
    const last = type === 'response.created' ? null : this.#last
    this.#last = number
    if (last === null || number === last + 1) return
    const detail = `${last} then ${number}`
    if (number === last) note('sequence_repeated', detail)
    else note(number < last ? 'sequence_backwards' : 'sequence_gap', detail)
  }
}
