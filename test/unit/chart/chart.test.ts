import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'

import { createMachine, setup, type AnyStateMachine } from 'xstate'
import { expect, test } from 'vitest'

import { loopMachine } from '../../../machines/loop.machine.ts'
import { chartHash } from '../../../src/chart/chart-hash.ts'
import { chartTree, mermaidDiagram } from '../../../src/chart/diagram.ts'
import { listStates, listTransitions } from '../../../src/chart/list-transitions.ts'

const PARTS = {
  guards: { isReady: () => true, isTired: () => false },
  actions: { note: () => undefined, shout: () => undefined },
}

const small = setup(PARTS).createMachine({
  id: 'small',
  initial: 'awake',
  states: {
    awake: {
      entry: 'note',
      always: { guard: 'isTired', target: 'asleep' },
      on: {
        ask: [
          { guard: 'isReady', actions: ['note', 'shout'], meta: { doc: 'It answers.' } },
          { target: 'asleep' },
        ],
      },
    },
    asleep: { type: 'final' },
  },
})

test('the list has eventless, initial and targetless transitions, each guarded branch apart', () => {
  expect(listTransitions(small)).toEqual([
    transition('small initial 0', { targets: ['awake'] }),
    transition('small.awake always 0', { guard: 'isTired', targets: ['asleep'] }),
    transition('small.awake ask 0', { guard: 'isReady', actions: ['note', 'shout'], doc: 'It answers.' }),
    transition('small.awake ask 1', { targets: ['asleep'] }),
  ])
})

function transition(key: string, change: object): object {
  const [id = '', event, index] = key.split(' ')
  const source = id.replace(/^small\.?/, '')
  return {
    key,
    source,
    event,
    index: Number(index),
    guard: null,
    targets: [],
    actions: [],
    reenter: false,
    doc: null,
    ...change,
  }
}

test('no two transitions of the loop share a key', () => {
  const keys = listTransitions(loopMachine).map(({ key }) => key)
  expect(new Set(keys).size).toBe(keys.length)
})

test('every state and every transition of the loop says what it is', () => {
  const silent = listTransitions(loopMachine).filter(({ doc, event }) => doc === null && event !== 'initial')
  expect(silent.map(({ key }) => key)).toEqual([])
  expect(statesWithoutDoc(chartTree(loopMachine).states)).toEqual([])
})

function statesWithoutDoc(states: ReturnType<typeof chartTree>['states']): readonly string[] {
  return states.flatMap(({ path, doc, states: inner }) => [
    ...(doc === null ? [path] : []),
    ...statesWithoutDoc(inner),
  ])
}

test('the hash is a sha256 that provided effects do not change', () => {
  expect(chartHash(loopMachine)).toHaveLength(createHash('sha256').digest('hex').length)
  expect(chartHash(loopMachine.provide({}))).toBe(chartHash(loopMachine))
})

test.for([
  ['an action less', { entry: [] }],
  ['another guard', { always: { guard: 'isReady', target: 'asleep' } }],
  ['a tag', { tags: ['quiet'] }],
  ['another order of branches', { on: { ask: [{ target: 'asleep' }, { guard: 'isReady' }] } }],
] as const)('the hash changes with %s', ([, change]) => {
  const { config } = small
  const states = { ...config.states, awake: { ...config.states?.awake, ...change } }
  const changed: AnyStateMachine = createMachine({ ...config, states } as never)
  expect(chartHash(changed)).not.toBe(chartHash(small))
})

test('the hash stays when a state is only described in other words', () => {
  const states = { ...small.config.states, asleep: { type: 'final', meta: { doc: 'At rest.' } } }
  const changed: AnyStateMachine = createMachine({ ...small.config, states } as never)
  expect(chartHash(changed)).toBe(chartHash(small))
})

test('docs/loop.mmd is what scripts/diagram.ts would write now', () => {
  const file = readFileSync(new URL('../../../docs/loop.mmd', import.meta.url), 'utf8')
  expect(file).toBe(mermaidDiagram(loopMachine))
})

test('the diagram names every state and every transition', () => {
  const text = mermaidDiagram(loopMachine)
  for (const { path } of listStates(loopMachine).slice(1)) expect(text).toContain(` as ${path.join('_')}`)
  const edges = text.split('\n').filter((line) => line.includes('-->'))
  const finals = listStates(loopMachine).filter(({ type }) => type === 'final').length
  expect(edges).toHaveLength(listTransitions(loopMachine).length + finals)
})

test('the tree is plain JSON with each transition at its state', () => {
  const tree = chartTree(loopMachine)
  expect(JSON.parse(JSON.stringify(tree))).toEqual(tree)
  const stopping = tree.states.find(({ key }) => key === 'stopping')
  expect(stopping).toMatchObject({ invoke: [{ id: 'drain', effect: 'drain' }] })
  expect(stopping?.transitions.every(({ source }) => source === 'stopping')).toBe(true)
})
