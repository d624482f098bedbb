import { isDeepStrictEqual } from 'node:util'

import { expect, test, vi } from 'vitest'

import { loopPaths } from '../../src/chart/loop-paths.ts'
import { LOOP_SCENARIOS } from '../../src/chart/loop-scenarios.ts'
import type { Frame } from '../../src/frames/generated/frame.ts'
import { restoreRun } from '../../src/loop/restore-run.ts'
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

test.for(LOOP_SCENARIOS)(
  'the log of every path of "$name" gives each of its steps again',
  async (scenario) => {
    for (const path of loopPaths(scenario)) {
      const expected = (await stepsOf(foldHost, path)).map(({ state, status, context }) => [
        state,
        status,
        context,
      ])
      const { frames } = await drivePath(path)
      const seen: unknown[] = []
      const { snapshot, pending } = restoreRun(JSON.parse(JSON.stringify(frames)) as Frame[], (_, step) => {
        seen.push([step.snapshot.state, step.snapshot.status, step.snapshot.context])
      })
      // That the first event of a response is in is seen and not decided: it is not in the log's decisions.
      const decided = expected.filter((_, at) => path.events[at - 1]?.type !== 'stream.opened').map(unopened)
      const last = decided.at(-1)
      // What nobody takes decides nothing.
      expect(unopened([snapshot.state, snapshot.status, snapshot.context]), pathName(path)).toEqual(last)
      expect(
        seen.map(unopened).every((step) => decided.some((other) => isDeepStrictEqual(step, other))),
      ).toBe(true)
      expect([...pending.keys()].sort(), pathName(path)).toEqual([...snapshot.children].sort())
    }
  },
)

function unopened(step: unknown): unknown {
  const [state, ...rest] = step as [string, ...unknown[]]
  return [state.replace('responding.streaming', 'responding.requesting'), ...rest]
}

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
