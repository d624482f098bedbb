import { expect, test, vi } from 'vitest'

import { formatFrame } from '../../src/frames/format-frame.ts'
import { parseFrame } from '../../src/frames/parse-frame.ts'
import { isDecision } from '../../src/loop/decisions.ts'
import { explainRun } from '../../src/replay/explain-run.ts'
import { forkRun, replay } from '../../src/replay-run.ts'
import { runSeeds, stored } from './run-seeds.ts'
import { simulate } from './simulate.ts'

vi.setConfig({ testTimeout: 120_000 })

test('300 simulated runs, with faults, commands and crashes, keep every promise and replay identically', async () => {
  const { broken } = await runSeeds(0, 300)
  expect(broken, 'set SEED to the number of one to see it again').toEqual([])
})

test('the same seed gives the same run, frame for frame', async () => {
  for (const seed of [3, 57, 101]) {
    const [one, other] = [await simulate(seed), await simulate(seed)]
    expect(other).toEqual(one)
  }
})

test('the simulation has crashes at every kind of moment, and every way to end', async () => {
  const ends = new Set<string>()
  const doubted = new Set<string>()
  let processes = 0
  for (let seed = 0; seed < 120; seed += 1) {
    const run = await simulate(seed)
    processes += run.processes
    for (const frame of run.frames) {
      if (frame.type === 'run_ended') ends.add(frame.state)
      if (frame.type === 'effect_settled' && frame.in_doubt) doubted.add(frame.id.replace(/\d+$/u, '0'))
    }
  }
  expect([...ends].sort()).toEqual(['cancelled', 'done', 'failed', 'limitExceeded'])
  expect([...doubted]).toEqual(expect.arrayContaining(['respond', 'tool.0']))
  expect(processes).toBeGreaterThan(150)
})

test('every frame of a simulated run can be written, read and replayed from its lines', async () => {
  for (let seed = 0; seed < 40; seed += 1) {
    const { frames } = await simulate(seed)
    const read = frames.map((frame) => parseFrame(formatFrame(frame)))
    expect(replay(read), `SEED=${seed}`).toMatchObject({ ok: true, frames: frames.length })
  }
})

test('a log that was cut off anywhere replays as far as it goes', async () => {
  for (let seed = 0; seed < 12; seed += 1) {
    const frames = stored((await simulate(seed)).frames)
    for (let length = 1; length < frames.length; length += 1) {
      expect(replay(frames.slice(0, length)), `SEED=${seed}, ${length} frames`).toMatchObject({ ok: true })
    }
  }
})

test('every decision of a simulated run can be forked at, and every fork can be folded, explained and replayed', async () => {
  for (let seed = 0; seed < 25; seed += 1) {
    const frames = stored((await simulate(seed)).frames)
    for (const frame of frames.filter(isDecision)) {
      const isCall = (frame.type === 'tool_ended' || frame.type === 'tool_failed') && frame.slot !== null
      const fork = forkRun(frames, {
        at: frame.seq,
        ...(isCall ? { change: { kind: 'output', output: 'changed' } } : {}),
        ...(frame.type === 'response_settled' ? { change: { kind: 'model', model: 'three' } } : {}),
      })
      const where = `SEED=${seed}, forked at ${frame.seq}`
      expect(replay(stored(fork.frames)), where).toMatchObject({ ok: true, frames: fork.frames.length })
      expect(explainRun(fork.frames).frames, where).toBe(fork.frames.length)
    }
  }
})
