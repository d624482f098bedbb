import { createMachine, type AnyStateMachine } from 'xstate'
import { expect, test, vi } from 'vitest'

import { loopMachine } from '../../machines/loop.machine.ts'
import { createCoverage, describeTransition, type Coverage } from '../../src/chart/coverage.ts'
import { listTransitions } from '../../src/chart/list-transitions.ts'
import type { LoopPath } from '../../src/chart/loop-paths.ts'
import { actPath } from './actor-host.ts'
import { allPaths } from './all-paths.ts'
import { foldPath } from './fold-host.ts'

vi.setConfig({ testTimeout: 60_000 })

test('the paths take every transition, guard branch and eventless transition on the pure fold', () => {
  expect(foldedCoverage(loopMachine).missing().map(describeTransition)).toEqual([])
})

test('the paths take every transition on a real actor', async () => {
  const coverage = createCoverage(loopMachine)
  for (const path of coveringPaths()) await actPath(path, coverage.inspect)
  expect(coverage.missing().map(describeTransition)).toEqual([])
})

test('both hosts take the same transitions equally often', async () => {
  const [folded, acted] = [createCoverage(loopMachine), createCoverage(loopMachine)]
  for (const path of allPaths().filter((_, index) => index % 10 === 0)) {
    foldPath(path, { onTransition: folded.take })
    await actPath(path, acted.inspect)
  }
  expect(Object.fromEntries(folded.taken())).toEqual(Object.fromEntries(acted.taken()))
})

test('a guarded transition that nothing reaches is named', () => {
  const machine = copyOfChart((config) => {
    const { assembling } = config.states.working.states
    assembling.always.splice(3, 0, { guard: () => false, target: 'compacting' })
  })
  expect(foldedCoverage(machine, coveringPaths()).missing().map(describeTransition)).toEqual([
    'working.assembling --always[3] if guard--> working.compacting',
  ])
})

test('a state that nothing leads to is named by the ways out of it', () => {
  const machine = copyOfChart((config) => {
    config.states.working.states['resting'] = { on: { 'run.wake': 'responding' } }
  })
  expect(foldedCoverage(machine, coveringPaths()).missing().map(describeTransition)).toEqual([
    'working.resting --run.wake[0]--> working.responding',
  ])
})

test('without any run every transition is missing', () => {
  const coverage = createCoverage(loopMachine)
  expect(coverage.missing()).toEqual(listTransitions(loopMachine))
})

function foldedCoverage(machine: typeof loopMachine, paths = allPaths()): Coverage {
  const coverage = createCoverage(machine)
  for (const path of paths) foldPath(path, { onTransition: coverage.take }, machine)
  return coverage
}

/** The paths that were the first to take some transition: enough to see them all. */
function coveringPaths(): readonly LoopPath[] {
  const coverage = createCoverage(loopMachine)
  let count = 0
  return allPaths().filter((path) => {
    if (count === listTransitions(loopMachine).length) return false
    foldPath(path, { onTransition: coverage.take })
    const isNew = coverage.taken().size > count
    count = coverage.taken().size
    return isNew
  })
}

interface Config {
  readonly states: {
    readonly working: {
      readonly states: Record<string, object> & { readonly assembling: { readonly always: object[] } }
    }
  }
}

function copyOfChart(change: (config: Config) => void): typeof loopMachine {
  const config = clone(loopMachine.config)
  change(config as Config)
  const machine: AnyStateMachine = createMachine(config as never, loopMachine.implementations as never)
  return machine as typeof loopMachine
}

function clone(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(clone)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, clone(inner)]))
}
