import type { DeltaKind, DeltaPlace } from '../frames/make-frame.ts'
import type { JsonObject } from '../protocol/json.ts'

const KINDS: ReadonlyMap<string, DeltaKind> = new Map([
  ['response.output_text.delta', { type: 'output_text_delta', part: null }],
  ['response.refusal.delta', { type: 'refusal_delta', part: null }],
  ['response.reasoning.delta', { type: 'reasoning_delta', part: 'content' }],
  ['response.reasoning_text.delta', { type: 'reasoning_delta', part: 'content' }],
  ['response.reasoning_summary_text.delta', { type: 'reasoning_delta', part: 'summary' }],
])

/** The second, smaller frame of events of a type, for text as it appears; null: they have none. */
export function deltaKindOf(eventType: string): DeltaKind | null {
  return KINDS.get(eventType) ?? null
}

export function deltaPlaceOf({ item_id, output_index }: JsonObject): DeltaPlace {
  return {
    item_id: typeof item_id === 'string' ? item_id : null,
    output_index: Number.isInteger(output_index) ? Number(output_index) : null,
  }
}
