import { expect, test } from 'vitest'

import { agent } from '../../src/agent.ts'
import { run } from '../../src/loop/run.ts'
import { ManualClock } from '../manual-clock.ts'
import {
  callsAnswer,
  finishRun,
  framesOf,
  refusalAnswer,
  scriptedModel,
  textAnswer,
} from '../scripted-model.ts'
import { ASK, makeStore, pair } from './subagent-kit.ts'

const START_MS = 1_000_000
const LIMITS = { ms: 500_000 }

// As one made of performance.timeOrigin and performance.now() does.
function fractionalClock(): ManualClock {
  const clock = new ManualClock()
  clock.advance(0.625)
  return clock
}

test('the log of a run with a deadline can be read when its clock has fractions of milliseconds', async () => {
  const store = makeStore()
  const model = scriptedModel([textAnswer(1, 'x')])
  const made = agent({ model, clock: fractionalClock(), limits: LIMITS })
  expect(await run(made, 'go', { store, runId: 'run_1' }).result).toMatchObject({ state: 'done' })
  const [started] = framesOf([...store.read('run_1')], 'run_started')
  expect(started?.deadline_at).toBe(START_MS + 500_000)
})

test('the time of a retry is whole when the clock has fractions of milliseconds', async () => {
  const clock = fractionalClock()
  const model = scriptedModel([refusalAnswer('busy', true), textAnswer(1, 'x')])
  const made = agent({ model, clock, random: () => 0.5, retry: { waitMs: 1000 } })
  const { frames, result } = await finishRun({ live: run(made, 'go'), clock })
  expect(result).toMatchObject({ state: 'done' })
  expect(framesOf(frames, 'retry_scheduled')).toMatchObject([{ figures: { retry_at: START_MS + 500 } }])
})

test('the run of a call has the deadline of its caller when their clock has fractions of milliseconds', async () => {
  const store = makeStore()
  const clock = fractionalClock()
  const made = pair(
    [textAnswer(1, 'x')],
    [callsAnswer(1, ASK), textAnswer(2, 'y')],
    { clock },
    { clock, limits: LIMITS },
  )
  expect(await run(made.agent, 'go', { store, runId: 'outer' }).result).toMatchObject({ state: 'done' })
  const [started] = framesOf([...store.read('outer.1.0')], 'run_started')
  expect(started).toMatchObject({ deadline_at: START_MS + 500_000, limits: { wall_time_ms: 500_000 } })
})
