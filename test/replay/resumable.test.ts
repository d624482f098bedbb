import { expect, test } from 'vitest'

import { agent } from '../../src/agent.ts'
import { checkResume } from '../../src/loop/check-resume.ts'
import { run } from '../../src/loop/run.ts'
import { SimulatedClock } from '../../src/testing/simulated-clock.ts'
import { framesOf, scriptedModel, textAnswer } from '../scripted-model.ts'
import { MemoryStore } from './memory-store.ts'
import { readLog } from './read-log.ts'

test('a run that turned to another model while a response was coming in can be resumed', () => {
  const frames = readLog('retries-and-fallback')
  const at = frames.findIndex(({ type }) => type === 'provider_switched')
  const { verdict, reasons } = checkResume(frames.slice(0, at + 2), null)
  expect({ verdict, reasons }).toMatchObject({ verdict: 'compatible' })
})

test('a run that is resumed after its deadline asks nothing any more', async () => {
  const [started, ...rest] = readLog('limit-and-last-word')
  if (started?.type !== 'run_started') throw new Error('the log does not start')
  const cut = [started, ...rest.slice(0, rest.findIndex(({ type }) => type === 'request_sent') + 1)]
  const clock = new SimulatedClock((started.deadline_at ?? 0) + 1000)
  const live = run(
    agent({ model: scriptedModel([textAnswer(1, 'late')]), clock }),
    { resume: started.run_id },
    {
      store: new MemoryStore(cut),
    },
  )
  const frames = []
  for await (const frame of live) {
    frames.push(frame)
    clock.advance(1)
  }
  expect(framesOf(frames, 'request_sent').length).toBe(1)
})
