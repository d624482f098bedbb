import { expect, test } from 'vitest'

import type { LoopSettings } from '../../../machines/loop.types.ts'
import { can } from '../../../src/chart/can.ts'
import { explain } from '../../../src/chart/explain.ts'
import { inDoubt, respondDone, type LoopPathEvent } from '../../../src/chart/loop-events.ts'
import { LOOP_SCENARIOS } from '../../../src/chart/loop-scenarios.ts'
import { loopFold } from '../../../src/chart/loop-fold.ts'
import { ASKED, asks, failure, says } from '../../../src/chart/response-cases.ts'
import type { LoopSnapshot } from '../../../src/chart/loop-snapshot.ts'
import type { CallCase } from '../../../src/chart/response-cases.ts'

const { input } = LOOP_SCENARIOS[0]

test('a run that has just begun waits for the first event', () => {
  expect(explain(after([]))).toEqual({
    state: 'working.responding.requesting',
    doc: 'No event of the response has come yet.',
    waitsFor: ['the first event of response 1'],
    can: ['run.cancel', 'run.steer'],
    why: 'the run has just begun',
  })
})

test('a run that waits for a yes names every call that needs one', () => {
  const { waitsFor, can: open } = explain(asked({ approval: ASKED }, {}, { approval: ASKED }))
  expect(waitsFor).toEqual([
    'a yes or a no for call call_1_0 of look',
    'a yes or a no for call call_1_2 of look',
  ])
  expect(open).toEqual([
    'run.cancel',
    'run.steer',
    'call.approve call_1_0',
    'call.deny call_1_0',
    'call.approve call_1_2',
    'call.deny call_1_2',
  ])
})

test('a retry says when it is due and why it is needed', () => {
  const retryAt = Date.UTC(2030, 0, 2, 3, 4, 5)
  const { waitsFor, why } = explain(failed(retryAt))
  expect(waitsFor).toEqual(['2030-01-02T03:04:05.000Z, when response 1, attempt 2 is sent'])
  expect(why).toBe('the request failed: rate_limited happened')
})

test('a time that no calendar has does not stop an explanation', () => {
  expect(explain(failed(1e300)).waitsFor).toEqual([
    'a time that no calendar has, when response 1, attempt 2 is sent',
  ])
})

test('a call in doubt waits for somebody to say what became of it', () => {
  const snapshot = asked({})
  const doubted = loopFold().next(snapshot, inDoubt('tool.0')).snapshot
  expect(explain(doubted).waitsFor).toEqual(['somebody to say what became of call call_1_0 of look'])
  expect(can(doubted, { type: 'call.reconcile', callId: 'call_1_0', as: 'rerun' }).answer).toBe('accepted')
  expect(can(doubted, { type: 'call.approve', callId: 'call_1_0' }).reason).toBe(
    'call call_1_0 has run already and its outcome is unknown: it can only be reconciled',
  )
})

test('a run that has ended waits for nothing, takes nothing and says why it ended', () => {
  const done = after([respondDone({ ok: true, response: says(after([]).context) })])
  expect(explain(done)).toMatchObject({
    state: 'done',
    waitsFor: [],
    can: [],
    why: 'the model had nothing left to do',
  })
  expect(can(done, { type: 'run.cancel' })).toEqual({ answer: 'refused', reason: 'the run has ended: done' })
})

test('a message for a run that works is queued, and refused once the last word is being said', () => {
  const steer = { type: 'run.steer', text: 'listen' } as const
  expect(can(after([]), steer)).toEqual({ answer: 'queued', reason: null })
  const lastWord = after([respondDone({ ok: true, response: asks({})(after([]).context) })], {
    limits: { ...input.settings.limits, turns: 1 },
    onLimit: 'wrap_up',
  })
  expect(can(lastWord, steer)).toEqual({
    answer: 'refused',
    reason: 'the model is having its last word, which nothing can follow',
  })
  expect(explain(lastWord).why).toBe('the limit of turns was reached: 1 of 1; the model has a last word')
})

test('a call that was approved cannot be approved again', () => {
  const snapshot = asked({}, { approval: ASKED })
  const approve = { type: 'call.approve', callId: 'call_1_1' } as const
  const approved = loopFold().next(snapshot, approve).snapshot
  expect(can(approved, approve).reason).toBe('call call_1_1 was approved already')
  expect(can(approved, { type: 'call.approve', callId: 'call_9' }).reason).toBe('there is no call call_9')
})

function after(events: readonly LoopPathEvent[], settings: Partial<LoopSettings> = {}): LoopSnapshot {
  let { snapshot } = loopFold().first({ ...input, settings: { ...input.settings, ...settings } })
  for (const event of events) ({ snapshot } = loopFold().next(snapshot, event))
  return snapshot
}

function asked(...calls: readonly CallCase[]): LoopSnapshot {
  return after([respondDone({ ok: true, response: asks(...calls)(after([]).context) })])
}

function failed(retryAt: number): LoopSnapshot {
  const error = failure('rate_limited', { retryAt })
  return after([respondDone({ ok: false, error, usage: null })])
}
