import { isDeepStrictEqual } from 'node:util'

import { initialTransition, transition } from 'xstate'
import { expect, test, vi } from 'vitest'

import { loopMachine } from '../../machines/loop.machine.ts'
import { LOOP_SCENARIOS } from '../../src/chart/loop-scenarios.ts'
import { loopPaths } from '../../src/chart/loop-paths.ts'
import { loopFold } from '../../src/chart/loop-fold.ts'
import { actorHost } from './actor-host.ts'
import { pathName } from './all-paths.ts'
import { foldHost } from './fold-host.ts'
import type { PathHost } from './path-host.ts'
import { statePath } from './state-path.ts'

vi.setConfig({ testTimeout: 60_000 })

/** Everything that the chart runs on besides the pure fold. */
const HOSTS: readonly PathHost[] = [actorHost]

test.for(HOSTS.flatMap((host) => LOOP_SCENARIOS.map((scenario) => ({ host, scenario }))))(
  'on the $host.name every step of "$scenario.name" is that of the pure fold',
  async ({ host, scenario }) => {
    for (const path of loopPaths(scenario)) {
      const [expected, actual] = [await foldHost.run(path), await host.run(path)]
      // Much faster than toEqual, which then shows where they differ.
      if (isDeepStrictEqual(actual, expected)) continue
      const index = expected.findIndex((step, at) => !isDeepStrictEqual(actual[at], step))
      expect(actual[index], pathName(path, index)).toStrictEqual(expected[index])
      expect.unreachable(`${pathName(path)}: the steps differ in a way that toStrictEqual does not see`)
    }
  },
)

test('the fold gives what transition() of xstate gives, and takes what its snapshot can', () => {
  for (const scenario of LOOP_SCENARIOS) {
    for (const path of loopPaths(scenario).filter((_, index) => index % 20 === 0)) {
      const fold = loopFold()
      let kept = fold.first(path.input)
      let [snapshot, actions] = initialTransition(loopMachine, path.input)
      for (const event of path.events) {
        kept = fold.next(kept.snapshot, event)
        ;[snapshot, actions] = transition(loopMachine, snapshot, event as never)
        expect(kept.snapshot.state).toEqual(statePath(snapshot))
        expect(fold.takes(kept.snapshot, { type: 'run.cancel' })).toBe(snapshot.can({ type: 'run.cancel' }))
        expect(kept.snapshot.children).toEqual(
          snapshot.status === 'active' ? Object.keys(snapshot.children) : [],
        )
        expect(kept.snapshot.context).toEqual(snapshot.context)
        const spawned = actions.filter(({ type }) => type === 'xstate.spawnChild')
        expect(kept.started).toHaveLength(spawned.length)
      }
    }
  }
})
