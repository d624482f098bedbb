import type { Frame } from '../../../frames/generated/frame.ts'
import type { JsonObject } from '../../../protocol/json.ts'
import { fieldsOf, listIn, textIn } from './json-fields.ts'
import { jsonText } from './json-text.ts'

/** How an event of a provider is to be looked at. */
type EventMark = 'none' | 'anomaly' | 'error'

/** The events of the provider, by frame, each with its mark. */
export class EventRows {
  readonly #seqs: number[] = []
  readonly #marks: EventMark[] = []
  #marked = 0

  /** Frames of all events. */
  get seqs(): readonly number[] {
    return this.#seqs
  }

  /** Marks of the events of the same index. */
  get marks(): readonly EventMark[] {
    return this.#marks
  }

  /** How many have a mark. */
  get marked(): number {
    return this.#marked
  }

  /** Takes a frame in. */
  add(seq: number, type: string, fields: JsonObject): void {
    if (type !== 'provider_event') return
    const mark = markOf(fields)
    this.#seqs.push(seq)
    this.#marks.push(mark)
    if (mark !== 'none') this.#marked += 1
  }
}

const FAILURES: ReadonlySet<string> = new Set(['error', 'response.failed', 'response.incomplete'])

function markOf(fields: JsonObject): EventMark {
  const isBroken = fields['status'] === 'invalid_json' || FAILURES.has(textIn(fields, 'event_name') ?? '')
  if (isBroken || has(fields['errors']) || has(fields['response_errors'])) return 'error'
  return has(fields['anomalies']) ? 'anomaly' : 'none'
}

function has(value: JsonObject[string]): boolean {
  return Array.isArray(value) && value.length > 0
}

/** What is not as it should be with an event, in the words of the log. */
export function eventFindings(frame: Frame | undefined): readonly string[] {
  const fields = fieldsOf(frame)
  const anomalies = listIn(fields, 'anomalies').map((value) => {
    const anomaly = fieldsOf(value)
    return `${textIn(anomaly, 'code') ?? 'anomaly'}: ${textIn(anomaly, 'detail') ?? ''}`
  })
  const status = fields['status'] === 'invalid_json' ? ['this is not JSON'] : []
  return [...status, ...said(fields, 'errors'), ...said(fields, 'response_errors'), ...anomalies]
}

function said(fields: JsonObject, key: string): readonly string[] {
  return listIn(fields, key).map((value) => (typeof value === 'string' ? value : jsonText(value)))
}

/** The text of an event as it came; what was not UTF-8 as base64. */
export function rawEvent(frame: Frame | undefined): { readonly text: string; readonly isBase64: boolean } {
  const fields = fieldsOf(frame)
  const raw = textIn(fields, 'raw')
  return raw === null
    ? { text: textIn(fields, 'raw_base64') ?? '', isBase64: true }
    : { text: raw, isBase64: false }
}
