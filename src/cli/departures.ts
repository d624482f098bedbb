import type { AnomalyCode } from '../stream/anomaly.ts'
import type { StreamEvent } from '../stream/event-pipeline.ts'
import { countOf } from './run-figures.ts'

/** How a provider stands on one point of the specification. */
export interface Finding {
  readonly topic: string
  readonly verdict: 'as specified' | 'departs' | 'not supported' | 'not seen' | 'no answer'
  /** One line; parts of it may be the provider's own words. */
  readonly detail: string
}

const EXAMPLES_MAX = 3

const TOPICS: Readonly<Record<string, readonly AnomalyCode[]>> = {
  framing: ['invalid_utf8', 'event_name_differs', 'too_deep'],
  order: [
    'created_not_first',
    'late_event',
    'item_not_added',
    'item_added_repeated',
    'item_added_after_done',
    'item_done_repeated',
    'item_not_done',
    'part_not_added',
    'delta_after_done',
  ],
  'sequence numbers': ['sequence_missing', 'sequence_gap', 'sequence_repeated', 'sequence_backwards'],
  'deltas against done': ['delta_done_differ', 'arguments_differ', 'arguments_not_text'],
  ids: [
    'response_id_changed',
    'item_id_changed',
    'output_index_reused',
    'output_index_changed',
    'call_without_id',
  ],
  'terminal response': [
    'status_differs',
    'terminal_without_response',
    'item_not_in_terminal',
    'item_contradicted',
    'item_recovered',
  ],
}

/** What the events of streams say about each point that a stream can depart on. */
export function streamFindings(streams: readonly (readonly StreamEvent[])[]): readonly Finding[] {
  const events = streams.flat()
  return [schemaFinding(events), ...topicFindings(events), doneFinding(streams)]
}

function schemaFinding(events: readonly StreamEvent[]): Finding {
  const faults = events.flatMap(({ type, errors, response_errors: more }) =>
    [...errors, ...more].map((error) => `${type === '' ? 'an event without a type' : type}: ${error}`),
  )
  const types = new Set(events.flatMap(({ type }) => (type === '' ? [] : [type])))
  const detail = `${countOf(events.length, 'event')} of ${countOf(types.size, 'type')}`
  return findingOf('events', faults, detail)
}

function topicFindings(events: readonly StreamEvent[]): readonly Finding[] {
  return Object.entries(TOPICS).map(([topic, codes]) => {
    const faults = events.flatMap(({ anomalies }) =>
      anomalies.filter(({ code }) => codes.includes(code)).map(({ code, detail }) => `${code} (${detail})`),
    )
    return findingOf(topic, faults, 'nothing odd')
  })
}

function doneFinding(streams: readonly (readonly StreamEvent[])[]): Finding {
  const without = streams.filter((events) => events.at(-1)?.status !== 'done').length
  return without === 0
    ? { topic: '[DONE]', verdict: 'as specified', detail: 'each stream ends with it' }
    : {
        topic: '[DONE]',
        verdict: 'departs',
        detail: `${without} of ${streams.length} streams end without it`,
      }
}

/** A finding from what was found wrong; as specified when nothing was. */
export function findingOf(topic: string, faults: readonly string[], fine: string): Finding {
  if (faults.length === 0) return { topic, verdict: 'as specified', detail: fine }
  const different = [...new Set(faults)]
  const shown = different.slice(0, EXAMPLES_MAX).join('; ')
  const more = different.length - EXAMPLES_MAX
  return { topic, verdict: 'departs', detail: more > 0 ? `${shown}; and ${more} more` : shown }
}
