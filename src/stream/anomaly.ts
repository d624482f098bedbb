/** What can be odd about a stream that is read all the same; docs/protocol.md says what each means. */
export const ANOMALY_CODES = [
  'invalid_utf8',
  'event_name_differs',
  'too_deep',
  'late_event',
  'sequence_missing',
  'sequence_gap',
  'sequence_repeated',
  'sequence_backwards',
  'created_not_first',
  'response_id_changed',
  'status_differs',
  'terminal_without_response',
  'item_not_added',
  'item_added_repeated',
  'item_added_after_done',
  'item_done_repeated',
  'item_id_changed',
  'output_index_reused',
  'output_index_changed',
  'item_contradicted',
  'item_not_done',
  'item_not_in_terminal',
  'item_recovered',
  'part_not_added',
  'delta_after_done',
  'delta_done_differ',
  'arguments_differ',
  'arguments_not_text',
  'call_without_id',
] as const

export type AnomalyCode = (typeof ANOMALY_CODES)[number]

/** One odd thing, on the event that showed it. */
export interface Anomaly {
  readonly code: AnomalyCode
  readonly detail: string
}

/** Takes note of an odd thing about the event at hand. */
export type NoteAnomaly = (code: AnomalyCode, detail: string) => void
