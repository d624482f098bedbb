import { Buffer } from 'node:buffer'

import { expect, test } from 'vitest'

import { agent } from '../../src/agent.ts'
import type { ModelRequest } from '../../src/loop/model.ts'
import { run } from '../../src/loop/run.ts'
import { explainRun } from '../../src/replay/explain-run.ts'
import { replay } from '../../src/replay-run.ts'
import { ManualClock } from '../manual-clock.ts'
import {
  callsAnswer,
  everythingElse,
  framesOf,
  scriptedModel,
  textAnswer,
  untilFrame,
  watchedTool,
} from '../scripted-model.ts'
import { makeStore } from './subagent-kit.ts'

const CALL = callsAnswer(1, [['slow', '{}']])

test('fault T02: what a stopped tool answers while the last frames of its run are written is not told behind them', async () => {
  const clock = new ManualClock()
  const store = makeStore()
  // As one does that listens to its signal: it rejects in the step that its own timeout leads to.
  const slow = watchedTool(
    'slow',
    (_, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new Error('stopped')), { once: true })
      }),
    { timeoutMs: 50 },
  )
  const made = agent({ model: scriptedModel([CALL]), tools: [slow.tool], clock, limits: { noProgress: 1 } })
  const live = run(made, 'go', { store, runId: 'run_1' })
  await untilFrame(live, ({ type }) => type === 'tool_started')
  clock.advance(50)
  expect(await live.result).toMatchObject({ state: 'limitExceeded', calls: [{ outcome: 'timeout' }] })
  const frames = [...store.read('run_1')]
  expect(frames.at(-1)?.type).toBe('run_ended')
  expect(explainRun(frames).state).toBe('limitExceeded')
  expect(replay(frames).ok).toBe(true)
})

test('a tool that goes on behind its timeout begins no run that would belong to nothing', async () => {
  const clock = new ManualClock()
  const store = makeStore()
  const goOn = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<unknown>()
  const inner = agent({ model: scriptedModel([textAnswer(1, 'hello')]), clock })
  const slow = watchedTool(
    'slow',
    async (_, { runAgent }) => {
      await goOn.promise
      const running = runAgent(inner, 'go')
      begun.resolve(
        running.then(
          () => 'it ran',
          (error: unknown) => error,
        ),
      )
      return running
    },
    { timeoutMs: 50 },
  )
  const answer = Promise.withResolvers<void>()
  const model = scriptedModel([
    CALL,
    async (request) => {
      await answer.promise
      request.onHead({ status: 200, requestId: null, contentType: 'text/event-stream' })
      request.onChunk(Buffer.from(textAnswer(2, 'never mind')))
      return null
    },
  ])
  const live = run(agent({ model, tools: [slow.tool], clock }), 'go', { store, runId: 'run_1' })
  await untilFrame(live, ({ type }) => type === 'tool_started')
  clock.advance(50)
  await untilFrame(
    live,
    ({ type, ...frame }) => type === 'request_sent' && 'turn' in frame && frame.turn === 2,
  )
  goOn.resolve()
  expect(await begun.promise).toMatchObject({ code: 'tool_timeout' })
  answer.resolve()
  expect((await live.result).state).toBe('done')
  const frames = [...store.read('run_1')]
  expect(framesOf(frames, 'child_started')).toEqual([])
  expect(replay(frames).ok).toBe(true)
  expect(store.list().map(({ runId }) => runId)).toEqual(['run_1'])
})

test('a call that was let go of before it began is not in doubt, also when that came while its step was written', async () => {
  const store = makeStore()
  const slow = watchedTool('slow', () => 'it ran')
  const inner = scriptedModel([CALL])
  const model = {
    ...inner,
    send: async (request: ModelRequest) => {
      const fault = await inner.send(request)
      // What came in is written by then. The frames of the step are made next, and written behind what is told here.
      await everythingElse()
      setImmediate(() => void live.suspend())
      return fault
    },
  }
  const live = run(agent({ model, tools: [slow.tool] }), 'go', { store, runId: 'run_1' })
  expect((await live.result).status).toBe('suspended')
  const frames = [...store.read('run_1')]
  expect([slow.ran, framesOf(frames, 'tool_started').length]).toEqual([[], 1])
  const resumed = agent({ model: scriptedModel([textAnswer(2, 'well')]), tools: [slow.tool] })
  const again = run(resumed, { resume: 'run_1' }, { store })
  expect(await again.result).toMatchObject({ state: 'done', calls: [{ outcome: 'ok' }] })
  expect(replay([...store.read('run_1')]).ok).toBe(true)
})
