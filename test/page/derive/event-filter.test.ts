import { expect, test } from 'vitest'

import type { Frame, ProviderEventFrame } from '../../../src/frames/generated/frame.ts'
import { EventFilter } from '../../../src/inspect/page/derive/event-filter.ts'
import { eventFindings } from '../../../src/inspect/page/derive/event-rows.ts'
import { deriveIndex } from '../../../src/inspect/page/derive/run-index.ts'

const event = (seq: number, more: Partial<ProviderEventFrame>): Frame => ({
  v: 1,
  run_id: 'r',
  seq,
  ts: 0,
  type: 'provider_event',
  turn: 1,
  attempt: 0,
  status: 'event',
  event_name: 'x',
  raw: '{}',
  errors: [],
  response_errors: [],
  anomalies: [],
  ...more,
})

const FRAMES = [
  event(0, { event_name: 'response.created' }),
  event(1, { raw: '{"delta":"A.b(c"}' }),
  event(2, { anomalies: [{ code: 'sequence_gap', detail: '3 after 1' }] }),
  event(3, { status: 'invalid_json', raw: '{' }),
  event(4, { errors: ['/a must be text'], response_errors: ['/b is missing'] }),
  event(5, { event_name: 'response.failed' }),
]

const found = (text: string, isMarkedOnly: boolean): readonly number[] =>
  new EventFilter(FRAMES, deriveIndex(FRAMES).events, { text, isMarkedOnly }).seqs()

test('events are found by name and by text, and characters of patterns mean themselves', () => {
  expect(found('CREATED', false)).toEqual([0])
  expect(found('a.B(c', false)).toEqual([1])
  expect(found('aXb', false)).toEqual([])
  expect(found(' ', false)).toEqual([0, 1, 2, 3, 4, 5])
})

test('only events with an anomaly or an error are left when those are asked for', () => {
  expect(found('', true)).toEqual([2, 3, 4, 5])
  expect(deriveIndex(FRAMES).events.marks).toEqual(['none', 'none', 'anomaly', 'error', 'error', 'error'])
  expect(FRAMES.map(eventFindings)).toEqual([
    [],
    [],
    ['sequence_gap: 3 after 1'],
    ['this is not JSON'],
    ['/a must be text', '/b is missing'],
    [],
  ])
})

test('events that come later are found too', () => {
  const growing = FRAMES.slice(0, 3)
  const filter = new EventFilter(growing, deriveIndex(growing).events, { text: '', isMarkedOnly: true })
  expect(filter.seqs()).toEqual([2])
  growing.push(...FRAMES.slice(3))
  deriveIndex(growing)
  expect(filter.seqs()).toEqual([2, 3, 4, 5])
})
