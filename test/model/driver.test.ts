import { isDeepStrictEqual } from 'node:util'

import { expect, test, vi } from 'vitest'

import { loopPaths } from '../../src/chart/loop-paths.ts'
import { LOOP_SCENARIOS } from '../../src/chart/loop-scenarios.ts'
import { pathName } from './all-paths.ts'
import { drivePath, stepsOf } from './driver-host.ts'
import { foldHost } from './fold-host.ts'

vi.setConfig({ testTimeout: 60_000 })

test.for(LOOP_SCENARIOS)('on the driver every step of "$name" is that of the pure fold', async (scenario) => {
  for (const path of loopPaths(scenario)) {
    const expected = await stepsOf(foldHost, path)
    const { steps } = await drivePath(path)
    if (isDeepStrictEqual(steps, expected)) continue
    const index = expected.findIndex((step, at) => !isDeepStrictEqual(steps[at], step))
    expect(steps[index], pathName(path, index)).toStrictEqual(expected[index])
  }
})

test.for(LOOP_SCENARIOS)('the log of every path of "$name" keeps its promises', async (scenario) => {
  for (const path of loopPaths(scenario)) {
    const { frames, steps } = await drivePath(path)
    const name = pathName(path)
    expect(
      frames.map(({ seq }) => seq),
      name,
    ).toEqual(frames.map((_, at) => at))
    const ends = frames.filter(({ type }) => type === 'run_ended')
    expect(ends.length, name).toBe(steps.at(-1)?.status === 'done' ? 1 : 0)
    expect(ends.length === 0 || frames.at(-1) === ends[0], name).toBe(true)
    const settledAt = frames.findIndex(({ type }) => type === 'response_settled')
    const startedAt = frames.findIndex(({ type }) => type === 'tool_started')
    expect(startedAt === -1 || (settledAt !== -1 && settledAt < startedAt), name).toBe(true)
  }
})
