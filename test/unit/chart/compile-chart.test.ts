import { assign, createMachine, type AnyStateMachine } from 'xstate'
import { expect, test } from 'vitest'

import { loopMachine } from '../../../machines/loop.machine.ts'
import { loopFold } from '../../../src/chart/loop-fold.ts'
import { LOOP_SCENARIOS } from '../../../src/chart/loop-scenarios.ts'
import { createFold } from '../../../src/chart/pure-fold.ts'
import { rejected, respondDone, toolDone } from '../../../src/chart/loop-events.ts'
import { asks, toolOutput } from '../../../src/chart/response-cases.ts'

const [{ input }] = LOOP_SCENARIOS

test.for([
  ['a parallel state', { type: 'parallel', states: { a: {}, b: {} } }, 'it is parallel'],
  ['a history state', { initial: 'a', states: { a: {}, b: { type: 'history' } } }, 'it is history'],
  ['exit actions', { initial: 'a', states: { a: { exit: 'leave' } } }, 'it has exit actions'],
  ['a delay', { initial: 'a', states: { a: { after: { 10: 'a' } } } }, 'it has delays'],
  ['an action without a name', { initial: 'a', states: { a: { entry: () => undefined } } }, 'has no name'],
  ['an action that nobody wrote', { initial: 'a', states: { a: { entry: 'dance' } } }, 'no action dance'],
  ['a guard that nobody wrote', { on: { go: { guard: 'isSunny', actions: 'end' } } }, 'no guard isSunny'],
] as const)('a chart with %s is refused by name when it is laid out', ([, config, complaint]) => {
  expect(() => createFold(chartOf(config))).toThrow(complaint)
})

test('an action that is no pure function is refused when the chart is laid out', () => {
  const machine = chartOf({ entry: 'count' }, { actions: { count: assign({ turn: 1 }) } })
  expect(() => createFold(machine)).toThrow('not made by perform()')
})

test('eventless transitions that go in circles end with an error, as in XState', () => {
  const circle = { initial: 'a', states: { a: { always: 'b' }, b: { always: 'a' } } }
  const machine = chartOf({ ...circle, options: { maxIterations: 20 } })
  expect(() => createFold(machine).first(input)).toThrow('the chart does not come to rest')
})

test('a rejection that no state answers ends the fold with the error and stops what is at work', () => {
  const fold = loopFold()
  const stopping = fold.next(fold.first(input).snapshot, { type: 'run.cancel' }).snapshot
  const { snapshot, stopped } = fold.next(stopping, rejected('tool.9'))
  expect(snapshot.status).toBe('error')
  expect(snapshot.error).toEqual({ message: 'tool.9 was rejected' })
  expect(stopped).toEqual(['drain'])
})

test('a run that has ended takes nothing any more', () => {
  const fold = loopFold()
  const stopping = fold.next(fold.first(input).snapshot, { type: 'run.cancel' }).snapshot
  const ended = fold.next(stopping, {
    type: 'xstate.done.actor.drain',
    output: [],
    actorId: 'drain',
  }).snapshot
  expect(ended.status).toBe('done')
  expect(fold.takes(ended, { type: 'run.cancel' })).toBe(false)
  expect(fold.next(ended, rejected('drain')).snapshot).toBe(ended)
})

test('a step leaves the snapshot that it starts from, and all that hangs on it, as they were', () => {
  const fold = loopFold()
  let { snapshot } = fold.first(input)
  const events = [
    respondDone({ ok: true, response: asks({})(snapshot.context) }),
    toolDone(0, toolOutput('ok')),
    { type: 'run.cancel' } as const,
  ]
  for (const event of events) {
    const before = structuredClone(snapshot)
    const after = fold.next(snapshot, event).snapshot
    expect(snapshot).toEqual(before)
    expect(after.context).not.toEqual(before.context)
    snapshot = after
  }
  expect(snapshot.state).toBe('stopping')
})

function chartOf(config: object, implementations: object = loopMachine.implementations): typeof loopMachine {
  const machine: AnyStateMachine = createMachine(config as never, implementations as never)
  return machine as typeof loopMachine
}
