import { expect, test } from 'vitest'

import type { Frame } from '../../src/frames/generated/frame.ts'
import { checkFrames, RULES, type Rule } from '../../src/testing/invariants.ts'

const CALL = { type: 'function_call', call_id: 'call_1', name: 'add', arguments: '{}' }
const OTHER = { ...CALL, call_id: 'call_2' }

type Bare = Record<string, unknown> & { readonly type: Frame['type'] }

const SETTLED: Bare = { type: 'response_settled', turn: 1, status: 'completed', items: [CALL, OTHER] }
const STARTED: Bare = { type: 'tool_started', call_id: 'call_1', name: 'add', attempt: 0 }
const ENDED: Bare = { type: 'tool_ended', call_id: 'call_1', outcome: 'ok' }
const RUN_ENDED: Bare = { type: 'run_ended', state: 'done' }
const FOLLOW_UP = request(['call_1', 'call_2'])

function request(callIds: readonly string[]): Bare {
  const input = callIds.map((callId) => ({ type: 'function_call_output', call_id: callId, output: '' }))
  return { type: 'request_sent', turn: 2, body: JSON.stringify({ input }) }
}

function rulesBrokenBy(...frames: readonly Bare[]): readonly Rule[] {
  const numbered = frames.map((frame, seq) => ({ seq, ...frame })) as unknown as readonly Frame[]
  return checkFrames('here', numbered).map(({ rule }) => rule)
}

test('a log as it should be breaks no rule', () => {
  expect(rulesBrokenBy(SETTLED, STARTED, ENDED, FOLLOW_UP, RUN_ENDED)).toEqual([])
})

test.for<readonly [Rule, readonly Bare[]]>([
  ['one_end', [SETTLED]],
  ['one_end', [RUN_ENDED, RUN_ENDED]],
  ['one_end', [RUN_ENDED, SETTLED]],
  ['named_end', [{ ...RUN_ENDED, state: 'lost' }]],
  ['in_sequence', [{ ...RUN_ENDED, seq: 3 }]],
  ['settled_first', [STARTED, SETTLED, RUN_ENDED]],
  ['settled_first', [{ ...SETTLED, status: 'incomplete' }, STARTED, RUN_ENDED]],
  ['started_once', [SETTLED, STARTED, STARTED, RUN_ENDED]],
  ['ended_once', [SETTLED, STARTED, ENDED, ENDED, RUN_ENDED]],
  ['answered_in_order', [SETTLED, request(['call_2', 'call_1']), RUN_ENDED]],
  ['answered_in_order', [SETTLED, request(['call_1']), RUN_ENDED]],
  ['answered_in_order', [SETTLED, request(['call_1', 'call_2', 'call_2']), RUN_ENDED]],
])('%s is noticed', ([rule, frames]) => {
  expect(rulesBrokenBy(...frames)).toContain(rule)
  expect(RULES[rule]).not.toBe('')
})

test('a call that starts again as another attempt, and one that repeats an id, break no rule', () => {
  const again = { ...STARTED, attempt: 1 }
  const duplicate = { ...ENDED, type: 'tool_failed', outcome: 'duplicate' } as const
  expect(rulesBrokenBy(SETTLED, duplicate, STARTED, again, ENDED, FOLLOW_UP, RUN_ENDED)).toEqual([])
})
