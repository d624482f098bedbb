import { expect, test } from 'vitest'

import { agent } from '../../src/agent.ts'
import { run } from '../../src/loop/run.ts'
import { replay } from '../../src/replay-run.ts'
import { ManualClock } from '../manual-clock.ts'
import {
  callsAnswer,
  everythingElse,
  framesOf,
  refusalAnswer,
  scriptedModel,
  textAnswer,
  untilFrame,
  watchedTool,
  type ScriptedAnswer,
} from '../scripted-model.ts'
import { ASK, asking, framesUntilEnd, hasFrame, makeStore, pair, until } from './subagent-kit.ts'

test('what an agent used counts for the run that called it, in the log too', async () => {
  const store = makeStore()
  const made = pair([textAnswer(1, 'x')], [callsAnswer(1, ASK), textAnswer(2, 'y')])
  const live = run(made.agent, 'go', { store, runId: 'outer' })
  const { usage } = await live.result
  const inner = framesOf([...store.read('outer.1.0')], 'run_ended')[0]
  const own = framesOf([...store.read('outer')], 'response_settled').map(({ decision }) => decision)
  const total = own.reduce(
    (sum, decision) => sum + Number(Object(Object(decision['response'])['usage'])['total_tokens']),
    0,
  )
  expect(Number(inner?.usage?.['total_tokens'])).toBeGreaterThan(0)
  expect(usage.total_tokens).toBe(total + Number(inner?.usage?.['total_tokens']))
})

test('a cancelled run cancels the run of its call, and what that uses ends too', async () => {
  const store = makeStore()
  const stopped: unknown[] = []
  const slow = watchedTool('slow', (_, { signal }) => {
    return new Promise((resolve) => {
      signal.addEventListener('abort', () => (stopped.push('slow'), resolve('stopped')))
    })
  }).tool
  const made = pair([callsAnswer(1, [['slow', '{}']])], [callsAnswer(1, ASK)], { tools: [slow] })
  const live = run(made.agent, 'go', { store, runId: 'outer' })
  await untilFrame(live, ({ type }) => type === 'child_started')
  await until(
    () => live.children.get('call_1_0') !== undefined && hasFrame(store, 'outer.1.0', 'tool_started'),
  )
  await live.cancel('enough')
  expect(await live.result).toMatchObject({ state: 'cancelled' })
  expect(stopped).toEqual(['slow'])
  expect([...store.read('outer.1.0')].at(-1)).toMatchObject({ type: 'run_ended', state: 'cancelled' })
})

test('the limits that are left to a run are those of the run of its call', async () => {
  const store = makeStore()
  const clock = new ManualClock()
  const twice: readonly (readonly [string, string])[] = [
    ['look', '{}'],
    ['look', '{"again":true}'],
  ]
  const look = watchedTool('look', () => 'seen').tool
  const made = pair(
    [callsAnswer(1, twice), textAnswer(2, 'x')],
    [callsAnswer(1, ASK), textAnswer(2, 'y')],
    { tools: [look], clock },
    { clock, limits: { toolCalls: 2, tokens: 1000, ms: 5000 } },
  )
  const live = run(made.agent, 'go', { store, runId: 'outer' })
  await live.result
  const [started] = store.read('outer.1.0')
  const { limits, deadline_at: deadlineAt } =
    framesOf(started === undefined ? [] : [started], 'run_started')[0] ?? {}
  expect(limits).toMatchObject({ toolCalls: 1, wall_time_ms: 5000 })
  expect(Number(limits?.['tokens'])).toBeLessThan(1000)
  expect(deadlineAt).toBe(framesOf([...store.read('outer')], 'run_started')[0]?.deadline_at)
  expect([...store.read('outer.1.0')].at(-1)).toMatchObject({ state: 'limitExceeded', reason: 'tool_calls' })
})

const forever: ScriptedAnswer = (request) =>
  new Promise((_, reject) => {
    request.signal.addEventListener('abort', () => reject(new Error('aborted')))
  })

test('the deadline of a run ends the run of its call', async () => {
  const store = makeStore()
  const clock = new ManualClock()
  const made = pair([forever], [callsAnswer(1, ASK)], { clock }, { clock, limits: { ms: 5000 } })
  const live = run(made.agent, 'go', { store, runId: 'outer' })
  await untilFrame(live, ({ type }) => type === 'child_started')
  await everythingElse()
  clock.advance(5000)
  await until(() => hasFrame(store, 'outer.1.0', 'run_ended'))
  clock.advance(5000)
  expect(await live.result).toMatchObject({ state: 'limitExceeded', reason: 'wall_time' })
})

test('an inner run that is told to wait for long suspends the outer one as well', async () => {
  const store = makeStore()
  const clock = new ManualClock()
  const later = { ...refusalAnswer('slow_down', true), retryAt: clock.now() + 3_600_000 }
  const made = pair([later], [callsAnswer(1, ASK)], { clock }, { clock })
  const live = run(made.agent, 'go', { store, runId: 'outer' })
  expect(await live.result).toMatchObject({
    status: 'suspended',
    reason: 'retry_later',
    retryAt: later.retryAt,
    state: 'working.executing.running',
  })
})

test('the deadline of a call ends the run of it, though that waits for a yes', async () => {
  const store = makeStore()
  const clock = new ManualClock()
  const ran: unknown[] = []
  const inner = agent({
    model: scriptedModel([callsAnswer(1, [['pay', '{}']])]),
    tools: [asking(ran)],
    clock,
  })
  const research = inner.asTool({ name: 'research', description: 'Find something out.', timeoutMs: 3000 })
  const outer = scriptedModel([callsAnswer(1, ASK), textAnswer(2, 'too slow')])
  const live = run(agent({ model: outer, tools: [research], clock }), 'go', { store, runId: 'outer' })
  await untilFrame(live, ({ type }) => type === 'approval_requested')
  clock.advance(3000)
  await until(() => hasFrame(store, 'outer.1.0', 'run_ended'))
  expect(await live.result).toMatchObject({ state: 'done', calls: [{ outcome: 'timeout' }] })
  expect([...store.read('outer.1.0')].at(-1)).toMatchObject({ state: 'cancelled' })
  expect(ran).toEqual([])
})

test('tokens that the run of a call uses count before the next request, and none starts when none are left', async () => {
  const store = makeStore()
  const twice: readonly (readonly [string, string])[] = [
    ['research', '{"input":"one"}'],
    ['research', '{"input":"two"}'],
  ]
  const outer = [callsAnswer(1, twice), textAnswer(2, 'done')]
  const spend = pair([textAnswer(1, 'x'), textAnswer(1, 'y')], outer)
  const { usage } = await run(spend.agent, 'go', { runId: 'free' }).result
  const own = framesOf(await framesUntilEnd(run(pair([], [textAnswer(1, 'x')]).agent, 'go')), 'run_ended')[0]
  const perResponse = Number(own?.usage?.['total_tokens'])
  expect(usage.total_tokens).toBe(4 * perResponse)
  // Enough for the first response and for one run of a call.
  const tight = pair(
    [textAnswer(1, 'x'), textAnswer(1, 'y')],
    outer,
    {},
    { limits: { tokens: 2 * perResponse } },
  )
  const live = run(tight.agent, 'go', { store, runId: 'outer' })
  expect(await live.result).toMatchObject({
    state: 'limitExceeded',
    reason: 'tokens',
    usage: { total_tokens: 2 * perResponse },
  })
  expect([tight.child.requests.length, tight.parent.requests.length]).toEqual([1, 1])
  expect(replay(store.read('outer'))).toMatchObject({ ok: true })
})

test('what a cancelled run of a call has used still counts', async () => {
  const store = makeStore()
  const ran: unknown[] = []
  const made = pair([callsAnswer(1, [['pay', '{}']])], [callsAnswer(1, ASK)], { tools: [asking(ran)] })
  const live = run(made.agent, 'go', { store, runId: 'outer' })
  await untilFrame(live, ({ type }) => type === 'approval_requested')
  await live.cancel()
  const { usage } = await live.result
  const inner = framesOf([...store.read('outer.1.0')], 'run_ended')[0]?.usage?.['total_tokens']
  expect(usage.total_tokens).toBe(2 * Number(inner))
  expect(replay(store.read('outer'))).toMatchObject({ ok: true })
})
