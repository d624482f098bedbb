import { expect, test } from 'vitest'

import type { Frame } from '../../../src/frames/generated/frame.ts'
import { callAt, callsInDoubt, openQuestions } from '../../../src/inspect/page/derive/call-at.ts'
import { personNeeded } from '../../../src/inspect/page/derive/person-needed.ts'
import { deriveIndex } from '../../../src/inspect/page/derive/run-index.ts'
import { FIXTURE_RUNS } from './fixture-runs.ts'

const log = (...payloads: readonly object[]): readonly Frame[] =>
  payloads.map((payload, seq) => ({ v: 1, run_id: 'r', seq, ts: seq, ...payload }) as Frame)

const proposed = (...calls: readonly object[]): object => ({
  type: 'response_settled',
  items: [],
  decision: { ok: true, response: { calls } },
})

const reply = (answer: string): object => ({
  type: 'command_received',
  command: { type: 'call.approve', callId: 'a' },
  answer: { answer, reason: null },
})

test('a question about a call further in is open until the call that it is in has ended', () => {
  const frames = log(
    proposed({ callId: 'outer', slot: 0, name: 'research' }),
    { type: 'tool_started', call_id: 'outer', slot: 0 },
    { type: 'approval_requested', call_id: 'inner', path: ['outer', 'inner'], arguments_hash: 'old' },
    { type: 'approval_requested', call_id: 'inner', path: ['outer', 'inner'], arguments_hash: 'new' },
    { type: 'tool_ended', call_id: 'outer', slot: 0, outcome: 'ok' },
  )
  const { calls } = deriveIndex(frames)
  const open = frames.map((_, at) => openQuestions(calls.all, at).map(({ argumentsHash }) => argumentsHash))
  expect(open).toEqual([[], [], ['old'], ['new'], []])
  expect(calls.all).toHaveLength(1)
})

test('an answer that was refused leaves its question open', () => {
  const frames = log(
    proposed({ callId: 'a', slot: 0, name: 'send' }),
    { type: 'approval_requested', call_id: 'a', path: ['a'] },
    reply('refused'),
    reply('accepted'),
  )
  const { calls } = deriveIndex(frames)
  expect(frames.map((_, at) => openQuestions(calls.all, at).length)).toEqual([0, 1, 1, 0])
  expect(frames.map((_, at) => calls.all[0] && callAt(calls.all[0], at).state)).toEqual([
    'proposed',
    'asked',
    'asked',
    'approved',
  ])
})

test('of two calls with one id, the duplicate gets the outcome of a duplicate', () => {
  const frames = log(
    proposed(
      { callId: 'a', slot: 0, name: 'add', disposition: 'ready' },
      { callId: 'a', slot: 1, name: 'add', disposition: 'duplicate' },
    ),
    { type: 'tool_failed', call_id: 'a', slot: null, outcome: 'duplicate' },
    { type: 'tool_started', call_id: 'a', slot: 0 },
    { type: 'tool_stdout', call_id: 'a', chunk: '5' },
    { type: 'tool_ended', call_id: 'a', slot: 0, outcome: 'ok' },
  )
  const ends = deriveIndex(frames).calls.all.map((call) => callAt(call, 4))
  expect(ends.map(({ end, stdoutLength }) => [end?.outcome, stdoutLength])).toEqual([
    ['ok', 1],
    ['duplicate', 0],
  ])
})

test('a call that was cut off is in doubt until somebody says what became of it', () => {
  const frames = FIXTURE_RUNS.find(([name]) => name === 'cut-off-twice.jsonl')?.[1] ?? []
  const { calls } = deriveIndex(frames)
  const doubted = frames.filter(({ seq }) => callsInDoubt(calls.all, seq).length > 0).map(({ type }) => type)
  expect(doubted[0]).toBe('effect_settled')
  expect(doubted).toContain('command_received')
  expect(callsInDoubt(calls.all, frames.length)).toEqual([])
})

test('a call further in that is in doubt is named by its path', () => {
  const frames = log(
    proposed({ callId: 'outer', slot: 0, name: 'research' }),
    { type: 'tool_started', call_id: 'outer', slot: 0 },
    { type: 'warning', cause: 'call_in_doubt', figures: { call_id: 'outer', path: ['outer', 'inner'] } },
  )
  expect(callsInDoubt(deriveIndex(frames).calls.all, 2)).toEqual([['outer', 'inner']])
})

test('a run waits for somebody from the question on until it is answered, and may wait for one further in', () => {
  const frames = log(
    proposed({ callId: 'a', slot: 0, name: 'pay' }),
    { type: 'approval_requested', call_id: 'a', path: ['a'] },
    reply('accepted'),
    { type: 'tool_started', call_id: 'a', slot: 0 },
    { type: 'approval_requested', call_id: 'b', path: ['a', 'b'] },
    { type: 'tool_ended', call_id: 'a', slot: 0, outcome: 'ok' },
  )
  const { calls } = deriveIndex(frames)
  expect(frames.map((_, at) => personNeeded(calls.all, at))).toEqual(['no', 'yes', 'no', 'no', 'maybe', 'no'])
})
