import { expect, test } from 'vitest'

import { explainRun } from '../../src/replay/explain-run.ts'
import { finishRun, startRun } from '../scripted-model.ts'
import { readLog } from './read-log.ts'

test('a run that has ended says how', () => {
  const frames = readLog('answer')
  expect(explainRun(frames)).toMatchObject({
    status: 'ended',
    state: 'done',
    why: 'the model had nothing left to do',
    waitsFor: [],
    inDoubt: [],
    onResume: [],
    frames: frames.length,
  })
})

test('a run that waits for a person says for what', () => {
  expect(explainRun(readLog('waiting-for-a-yes'))).toMatchObject({
    runId: 'run_waiting_for_a_yes',
    status: 'waiting',
    state: 'working.executing.awaitingApproval',
    waitsFor: ['a yes or a no for call call_send_toAda of send'],
    onResume: [],
    retryAt: null,
  })
})

test('a run that was cut off says what would become of what was at work', () => {
  const frames = readLog('cut-off-twice')
  const streaming = frames.slice(
    0,
    frames.findIndex(({ type }) => type === 'run_resumed'),
  )
  expect(explainRun(streaming)).toMatchObject({
    status: 'cut_off',
    state: 'working.responding.streaming',
    decidedAt: 0,
    onResume: ['response 1 is asked for again, as attempt 2'],
  })
  const adding = frames.slice(0, frames.findIndex(({ type }) => type === 'tool_started') + 1)
  expect(explainRun(adding)).toMatchObject({
    inDoubt: [{ callId: 'call_add_a2b3', name: 'add' }],
    onResume: ['call call_add_a2b3 of add runs again, which is safe'],
  })
  const posting = frames.slice(
    0,
    frames.findLastIndex(({ type }) => type === 'run_resumed'),
  )
  expect(explainRun(posting)).toMatchObject({
    epoch: 1,
    inDoubt: [{ callId: 'call_post_a1b2', name: 'post' }],
    onResume: ['somebody must say what became of call call_post_a1b2 of post'],
  })
})

test('a run that was let go of says when it is worth going on', async () => {
  const clock = { retryAt: 1_000_000 + 3_600_000 }
  const fault = {
    code: 'provider_rate_limited',
    message: 'slow down',
    provider: null,
    isRetryable: true,
    ...clock,
  }
  const { frames, result } = await finishRun(startRun([fault]))
  expect(result.status).toBe('suspended')
  expect(explainRun(frames)).toMatchObject({
    status: 'waiting',
    state: 'working.backingOff',
    retryAt: clock.retryAt,
    why: 'the request failed: slow down',
    waitsFor: [expect.stringContaining('when response 1, attempt 2 is sent')],
  })
})

test('a log that is none is refused', () => {
  expect(() => explainRun([])).toThrow('the log is empty')
})
