import { expect, test } from 'vitest'

import { agent } from '../../src/agent.ts'
import type { Frame } from '../../src/frames/generated/frame.ts'
import { checkResume } from '../../src/loop/check-resume.ts'
import { run } from '../../src/loop/run.ts'
import { replay } from '../../src/replay-run.ts'
import { ManualClock } from '../manual-clock.ts'
import {
  callsAnswer,
  finishRun,
  scriptedModel,
  startRun,
  textAnswer,
  watchedTool,
} from '../scripted-model.ts'
import { MemoryStore } from './memory-store.ts'

const { tool } = watchedTool('read', () => 'read', { readOnly: true })
const CALL = callsAnswer(1, [['read', '{}']])

/** A log whose end was torn off in the middle of a step, as it is after it was repaired. */
async function tornLog(): Promise<readonly Frame[]> {
  const { frames } = await finishRun(startRun([CALL, textAnswer(2, 'fine')], { tools: [tool] }))
  const torn = frames.slice(0, frames.findIndex(({ type }) => type === 'response_settled') + 2)
  const { v, run_id, seq, ts } = someFrame(torn.at(-1))
  return [...torn, { v, run_id, seq: seq + 1, ts, type: 'log_repaired', offset: 1, bytes_dropped: 7 }]
}

function someFrame(value: Frame | undefined): Frame {
  if (value === undefined) throw new Error('nothing is left')
  return value
}

async function resumed(log: readonly Frame[]): Promise<readonly Frame[]> {
  const model = scriptedModel([textAnswer(2, 'fine')])
  const made = agent({ model, tools: [tool], clock: new ManualClock() })
  const live = run(made, { resume: 'run_1' }, { store: new MemoryStore(log) })
  const frames: Frame[] = []
  for await (const frame of live) frames.push(frame)
  return frames
}

test('a log that was torn inside a step, repaired and resumed replays identically', async () => {
  const frames = await resumed(await tornLog())
  expect(frames.at(-1)).toMatchObject({ type: 'run_ended', state: 'done' })
  expect(replay(frames)).toMatchObject({ ok: true, frames: frames.length })
})

test('a log that was torn at its very end replays identically, and nothing is torn behind an end', async () => {
  const { frames } = await finishRun(startRun([textAnswer(1, 'fine')], {}))
  const { v, run_id, seq, ts } = someFrame(frames.at(-1))
  const repaired = { v, run_id, ts, type: 'log_repaired', offset: 1, bytes_dropped: 7 } as const
  const torn = [...frames.slice(0, -1), { ...repaired, seq }]
  expect(replay(torn)).toMatchObject({ ok: true, frames: frames.length })
  expect(replay([...frames, { ...repaired, seq: seq + 1 }])).toMatchObject({ ok: false })
})

test('a log that was torn inside a step and resumed can be resumed again', async () => {
  const frames = await resumed(await tornLog())
  const again = frames.slice(0, frames.findLastIndex(({ type }) => type === 'request_sent') + 1)
  expect(checkResume(again, null)).toMatchObject({ verdict: 'compatible' })
})
