import { isDeepStrictEqual } from 'node:util'

import { expect, test, vi } from 'vitest'

import type { ContinuityMode, RunToolInput } from '../../machines/loop.types.ts'
import { initialContext } from '../../machines/loop.rules.ts'
import type { LoopPath } from '../../src/chart/loop-paths.ts'
import { allPaths, pathName } from './all-paths.ts'
import { seenRequests, type SeenRequest } from './conversation.ts'
import { foldPath } from './fold-host.ts'
import { settledId, type PathStep } from './path-host.ts'

vi.setConfig({ testTimeout: 60_000 })

const FOLDED = allPaths().map((path) => [path, foldPath(path)] as const)

test('the context and the output are their own JSON round trip after every step', () => {
  expect(
    brokenBy((_, steps) =>
      steps.every(({ context, output }) => isPlain(context) && (output === undefined || isPlain(output))),
    ),
  ).toEqual([])
})

function isPlain(value: unknown): boolean {
  return isDeepStrictEqual(JSON.parse(JSON.stringify(value)), value)
}

test('no path ends in an error of the chart itself', () => {
  expect(
    brokenBy((_, steps) => steps.every(({ status }) => status === 'active' || status === 'done')),
  ).toEqual([])
})

test('a run that has ended has an output that names its state, and a run that goes on has none', () => {
  expect(
    brokenBy((_, steps) =>
      steps.every(({ status, state, output }) =>
        status === 'done' ? output?.state === state : output === undefined,
      ),
    ),
  ).toEqual([])
})

test('a call that was started has an outcome, or is known to be in doubt, when the run has ended', () => {
  expect(
    brokenBy((_, steps) =>
      steps.every(
        ({ status, context }) =>
          status === 'active' || context.calls.every((call) => call.status !== 'running'),
      ),
    ),
  ).toEqual([])
})

test('the output counts the turns whose request went out', () => {
  expect(
    brokenBy((path, steps) => {
      const turns = new Set(seenRequests(path, steps).map(({ input }) => input.turn))
      const { output } = lastOf(steps)
      return output === undefined || output.turns === turns.size
    }),
  ).toEqual([])
})

test('a limit is named by what reaches it: a call that ends, the clock, or a response', () => {
  expect(
    brokenBy((path, steps) =>
      steps.every(({ told }, index) =>
        told.every((one) => {
          if (one.type !== 'limit_reached') return true
          const by = path.events[index - 1]?.type
          if (one.limit === 'wall_time') return by === 'xstate.done.actor.deadline'
          // Tokens are used by responses, and by calls that ask a model themselves.
          if (one.limit === 'tokens') return by !== 'xstate.done.actor.deadline'
          return (by === 'xstate.done.actor.respond') === (one.limit !== 'no_progress')
        }),
      ),
    ),
  ).toEqual([])
})

test('a request is sent again no more often than the settings and its own error allow', () => {
  expect(
    brokenBy(({ input }, steps) =>
      steps.every(({ told, context }) =>
        told.every(
          (one) =>
            one.type !== 'retry_scheduled' ||
            one.attempt - context.route.since <=
              Math.min(input.settings.retriesMax, context.error?.retriesMax ?? Infinity),
        ),
      ),
    ),
  ).toEqual([])
})

test('every follow-up answers each call of the response before it once, in output order, and then only people speak', () => {
  expect(brokenBy((path, steps) => seenRequests(path, steps).every(isWholeFollowUp))).toEqual([])
})

function isWholeFollowUp({ input, items, answered, compacted }: SeenRequest): boolean {
  if (compacted !== null) return isDeepStrictEqual(items, compacted)
  if (answered === null) return true
  const said = [...answered.items, ...answered.response.items]
  // What the provider has lost it cannot look up: thoughts that are only an id are not sent again.
  const isLost = input.previousResponseId === null && items.every(({ type }) => type !== 'reasoning')
  const before = isLost ? said.filter(({ type }) => type !== 'reasoning') : said
  const outputs = answered.response.calls.map(({ callId }) => callId)
  const added = items.slice(before.length)
  return (
    isDeepStrictEqual(items.slice(0, before.length), before) &&
    isDeepStrictEqual(
      added.slice(0, outputs.length).map((item) => item['call_id']),
      outputs,
    ) &&
    added.slice(0, outputs.length).every(({ type }) => type === 'function_call_output') &&
    added.slice(outputs.length).every(({ type, role }) => type === 'message' && role === 'user')
  )
}

test('a run with the whole conversation in each request says what one by response id says', () => {
  expect(
    brokenBy((path, steps) => {
      if (hasContinuityError(path)) return true
      const { settings } = path.input
      const turned = {
        ...path,
        input: { ...path.input, settings: { ...settings, mode: other(settings.mode) } },
      }
      return isDeepStrictEqual(said(turned, foldPath(turned)), said(path, steps))
    }),
  ).toEqual([])
})

function other(mode: ContinuityMode): ContinuityMode {
  return mode === 'stateless' ? 'previous_response_id' : 'stateless'
}

function said(path: LoopPath, steps: readonly PathStep[]): unknown {
  return seenRequests(path, steps).map(({ items }) => items)
}

function hasContinuityError({ events }: LoopPath): boolean {
  return JSON.stringify(events).includes('"isContinuity":true')
}

test('a request never names a response and repeats what that response knows', () => {
  expect(
    brokenBy((path, steps) =>
      seenRequests(path, steps).every(
        ({ input }) => input.previousResponseId === null || input.mode === 'previous_response_id',
      ),
    ),
  ).toEqual([])
})

test('no call starts while a request is out, and none that the last response did not ask for', () => {
  expect(
    brokenBy((path, steps) => {
      const live = new Set<string>()
      return steps.every((step, index) => {
        updateLive(live, path, steps, index)
        const { response } = step.context
        return toolsStarted(step).every(
          ({ call }) =>
            !live.has('respond') &&
            response?.status === 'completed' &&
            response.calls.some(({ callId, slot }) => callId === call.callId && slot === call.slot),
        )
      })
    }),
  ).toEqual([])
})

test('a call that was settled never starts, and no attempt of a call starts twice', () => {
  expect(
    brokenBy((_, steps) => {
      const seen = new Set<string>()
      return steps.every((step, index) =>
        toolsStarted(step).every(({ turn, call, attempt }) => {
          const key = `${turn} ${call.slot} ${attempt}`
          const before = steps[index - 1]?.context
          const old = before?.turn === turn ? before.calls.find(({ slot }) => slot === call.slot) : undefined
          const isFresh = !seen.has(key) && old?.status !== 'settled'
          seen.add(key)
          return isFresh
        }),
      )
    }),
  ).toEqual([])
})

test('no more calls run at once than allowed, and in sequential mode one after another in slot order', () => {
  expect(
    brokenBy((path, steps) => {
      const { toolExecution, maxConcurrency } = path.input.settings
      const most = toolExecution === 'parallel' ? maxConcurrency : 1
      const live = new Set<string>()
      let last = { turn: 0, slot: -1 }
      return steps.every((step, index) => {
        updateLive(live, path, steps, index)
        const running = [...live].filter((id) => id.startsWith('tool.')).length
        const isInOrder = toolsStarted(step).every(({ turn, call, attempt }) => {
          const isLater = turn > last.turn || call.slot > last.slot || attempt > 0
          last = { turn, slot: call.slot }
          return toolExecution === 'parallel' || isLater
        })
        return running <= most && isInOrder
      })
    }),
  ).toEqual([])
})

test('what runs when a run is to stop is aborted at once, and nothing outlives the run', () => {
  expect(
    brokenBy((path, steps) => {
      const live = new Set<string>()
      return steps.every(({ state, status }, index) => {
        updateLive(live, path, steps, index)
        if (status !== 'active') return live.size === 0
        return state !== 'stopping' || isDeepStrictEqual([...live], ['drain'])
      })
    }),
  ).toEqual([])
})

test('for each call that waits for a yes somebody has been asked', () => {
  expect(
    brokenBy((_, steps) => {
      const asked = new Set<string>()
      return steps.every(({ state, context, told }) => {
        for (const one of told) if (one.type === 'approval_requested') asked.add(one.callId)
        if (!state.startsWith('working.executing')) return true
        return context.calls.every(({ status, callId }) => status !== 'undecided' || asked.has(callId))
      })
    }),
  ).toEqual([])
})

test('each scenario leads to the states and ends that are written down for it', async () => {
  const table = Map.groupBy(FOLDED, ([{ scenario }]) => scenario)
  const rows = [...table].map(([scenario, its]) => {
    const places = its.flatMap(([, steps]) =>
      steps.map(({ state, output }) => (output === undefined ? state : `${state}: ${output.reason}`)),
    )
    return `${scenario}\n${[...new Set(places)]
      .sort()
      .map((place) => `  ${place}`)
      .join('\n')}\n`
  })
  await expect(rows.join('\n')).toMatchFileSnapshot('./ends.snapshot.txt')
})

function updateLive(live: Set<string>, path: LoopPath, steps: readonly PathStep[], index: number): void {
  const settled = settledId(path.events[index - 1]?.type ?? '')
  if (settled !== null) live.delete(settled)
  for (const id of steps[index]?.aborted ?? []) live.delete(id)
  for (const { id } of steps[index]?.started ?? []) live.add(id)
}

function toolsStarted({ started }: PathStep): readonly RunToolInput[] {
  return started.filter(({ effect }) => effect === 'runTool').map(({ input }) => input as RunToolInput)
}

function lastOf(steps: readonly PathStep[]): PathStep {
  const last = steps.at(-1)
  if (last === undefined) throw new Error('a path has at least its start')
  return last
}

/** The first paths for which something does not hold. */
function brokenBy(holds: (path: LoopPath, steps: readonly PathStep[]) => boolean): readonly string[] {
  const broken = FOLDED.filter(([path, steps]) => !holds(path, steps))
  return broken.slice(0, 5).map(([path]) => pathName(path))
}

test('the context has fewer fields than V8 copies quickly', () => {
  // Object.assign of 20 fields takes 12 us, of 19 takes 0.2 us, and xstate copies the context for every assign.
  const [first] = allPaths()
  const fields = first === undefined ? [] : Object.keys(initialContext(first.input))
  expect(fields).toContain('settings')
  expect(fields.length).toBeLessThan(20)
})
