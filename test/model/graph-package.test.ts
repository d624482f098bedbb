import { getShortestPaths } from '@xstate/graph'
import { expect, test } from 'vitest'

import { eventsOf, loopPaths, traversalOf, walkedLoop } from '../../src/chart/loop-paths.ts'
import { LOOP_SCENARIOS } from '../../src/chart/loop-scenarios.ts'

const SMALL = LOOP_SCENARIOS.filter(({ cutIns }) => cutIns.length < 2)

test.for(SMALL)('@xstate/graph finds the same paths through "$name"', (scenario) => {
  const found = getShortestPaths(walkedLoop, traversalOf(scenario)).map((path) => eventsOf(path))
  const texts = new Set(found.map((events) => JSON.stringify(events)))
  const paths = loopPaths(scenario)
  expect(paths.length).toBeGreaterThan(0)
  expect(paths.filter(({ events }) => !texts.has(JSON.stringify(events)))).toEqual([])
})

test('the same scenario gives the same paths in the same order', () => {
  for (const scenario of SMALL) expect(loopPaths(scenario)).toEqual(loopPaths(scenario))
})

test('no path is the beginning of another', () => {
  for (const scenario of SMALL) {
    const texts = loopPaths(scenario).map(({ events }) =>
      events.map((event) => JSON.stringify(event)).join('\n'),
    )
    const isBeginning = (text: string): boolean =>
      texts.some((other) => other !== text && `${other}\n`.startsWith(`${text}\n`))
    expect(texts.filter(isBeginning)).toEqual([])
    expect(new Set(texts).size).toBe(texts.length)
  }
})
