import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import type { Frame } from '../../../src/frames/generated/frame.ts'
import { EventFilter } from '../../../src/inspect/page/derive/event-filter.ts'
import { eventFindings, rawEvent } from '../../../src/inspect/page/derive/event-rows.ts'
import { deriveIndex } from '../../../src/inspect/page/derive/run-index.ts'
import { FIXTURE_RUNS } from './fixture-runs.ts'
import { viewAt } from './view-at.ts'

const TYPES = [...new Set(FIXTURE_RUNS.flatMap(([, frames]) => frames.map(({ type }) => type)))]
const OTHER_TYPES = [
  'refusal_delta',
  'tool_stderr',
  'child_started',
  'continuity_switched',
  'history_compacted',
  'cursor_updated',
  'log_repaired',
  'conversation_started',
  'conversation_entry',
  'handed_off',
  'conversation_run_started',
  'conversation_run_ended',
  'nothing_known',
  '',
]

// Few enough values that frames meet: the same call, the same place, the same turn.
const field = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constantFrom('a', 'b', 'tool.0', 'duplicate', 'call.approve', 'call.deny', 'failed'),
  },
  { weight: 3, arbitrary: fc.integer({ min: -1, max: 2 }) },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
)
const keys = [
  'call_id',
  'callId',
  'slot',
  'output_index',
  'item_id',
  'delta',
  'chunk',
  'turn',
  'attempt',
  'outcome',
  'path',
  'type',
  'answer',
  'status',
  'items',
  'usage',
  'figures',
  'cause',
  'superseded',
  'in_doubt',
  'id',
  'value',
  'decision',
  'command',
  'response',
  'calls',
  'child_run_id',
  'entry',
  'limits',
  'body',
]
const fields = fc.dictionary(fc.constantFrom(...keys), field, { maxKeys: 8, noNullPrototype: true })
const nested = fc
  .record({ own: fields, command: fields, answer: fields, decision: fields, response: fields, call: fields })
  .map(({ own, command, answer, decision, response, call }) => ({
    ...own,
    command,
    answer,
    decision: { ...decision, response: { ...response, calls: [call] } },
    path: [call['call_id'], call['id']],
  }))
const frame = fc
  .tuple(fc.constantFrom(...TYPES, ...OTHER_TYPES), fc.oneof(fields, nested))
  .map(([type, payload]): unknown => ({ ...payload, type, v: 1, run_id: 'r', ts: 0 }))
const logs = fc.array(fc.oneof({ weight: 30, arbitrary: frame }, { weight: 1, arbitrary: fc.jsonValue() }), {
  maxLength: 40,
}) as fc.Arbitrary<Frame[]>

test('a log of odd frames is read without an error, and shows at every frame what one that ends there shows', () => {
  fc.assert(
    fc.property(logs, (frames) => {
      const index = deriveIndex(frames)
      frames.forEach((_, at) => {
        expect(viewAt(index, at)).toEqual(viewAt(deriveIndex(frames.slice(0, at + 1)), at))
      })
      const filter = new EventFilter(frames, index.events, { text: '(a', isMarkedOnly: true })
      for (const seq of filter.seqs()) expect(eventFindings(frames[seq])).toBeInstanceOf(Array)
      for (const odd of frames) expect(rawEvent(odd).text).toBeTypeOf('string')
      for (const request of index.requests.all)
        expect(index.requests.changesOf(request).kind).toBeTypeOf('string')
    }),
    { numRuns: 150 },
  )
})
