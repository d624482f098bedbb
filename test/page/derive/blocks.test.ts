import { expect, test } from 'vitest'

import type { Frame } from '../../../src/frames/generated/frame.ts'
import { deriveIndex } from '../../../src/inspect/page/derive/run-index.ts'
import { usageAt } from '../../../src/inspect/page/derive/usage-series.ts'
import { FIXTURE_RUNS } from './fixture-runs.ts'

const kindsOf = (frames: readonly Frame[]): readonly string[] =>
  deriveIndex(frames).blocks.all.map((block) => {
    if (block.kind === 'notice') return block.notice.title
    return block.kind === 'attempt' ? `attempt ${block.attempt.attempt}` : block.kind
  })

test('a conversation is told in order, failed attempts and what came of them included', () => {
  const frames = FIXTURE_RUNS.find(([name]) => name === 'retries-and-fallback.jsonl')?.[1] ?? []
  expect(kindsOf(frames).slice(0, 7)).toEqual([
    'input',
    'attempt 0',
    'warning: error_body',
    'the request is sent again',
    'attempt 1',
    'another model is asked',
    'attempt 2',
  ])
  expect(kindsOf(frames).at(-1)).toBe('end')
})

const usage = { prompt_tokens: 2, completion_tokens: 1, total_tokens: 3, cached: 0, reasoning: 0 }
const TALK = [
  {
    type: 'conversation_started',
    agent: {},
    model: 'm',
    settings: { tokensMax: 10, costMax: 0.5 },
    from: null,
  },
  { type: 'conversation_entry', entry_seq: 0, entry: { type: 'message', role: 'user', text: 'hi' } },
  { type: 'conversation_run_started', child_run_id: 'one', message_seq: 0 },
  {
    type: 'conversation_entry',
    entry_seq: 1,
    entry: { type: 'answer', run_id: 'one', message_seq: 0, text: 'ho' },
  },
  {
    type: 'conversation_run_ended',
    child_run_id: 'one',
    state: 'done',
    reason: 'completed',
    usage,
    cost: 0.25,
  },
  {
    type: 'conversation_run_ended',
    child_run_id: 'two',
    state: 'abandoned',
    reason: 'lost',
    usage: null,
    cost: null,
  },
  { type: 'handed_off', to: 'other', model: 'n' },
].map((payload, seq) => ({ v: 1, run_id: 'c', seq, ts: seq, ...payload })) as readonly Frame[]

test('the log of a conversation is told as a chat with its runs', () => {
  const { blocks } = deriveIndex(TALK)
  expect(kindsOf(TALK)).toEqual(['entry', 'child', 'entry', 'child', 'another agent goes on'])
  const runs = blocks.all.flatMap((block) => (block.kind === 'child' ? [block.child] : []))
  expect(runs.map(({ runId, end }) => [runId, end?.seq, end?.state])).toEqual([
    ['one', 4, 'done'],
    ['two', 5, 'abandoned'],
  ])
})

test('what the runs of a conversation cost is added up beside what they may', () => {
  const index = deriveIndex(TALK)
  expect(usageAt(index.usage, 3)).toMatchObject({ cost: null, total: { total_tokens: 0 } })
  expect(usageAt(index.usage, 6)).toMatchObject({ cost: 0.25, total: { total_tokens: 3 } })
  expect(index.usage.limits).toMatchObject({ tokens: 10, cost: 0.5, turns: null })
})

test('a run is held against the limits that it was started with', () => {
  const frames = FIXTURE_RUNS.find(([name]) => name === 'limit-and-last-word.jsonl')?.[1] ?? []
  expect(deriveIndex(frames).usage.limits).toEqual({
    turns: 2,
    toolCalls: 32,
    tokens: null,
    cost: null,
    wallTimeMs: 60_000,
  })
})
