import { readFileSync } from 'node:fs'

import { setup } from 'xstate'
import { expect, test } from 'vitest'

import { CHART_VERSION, loopMachine } from '../../../machines/loop.machine.ts'
import { layOutChart } from '../../../scripts/layout/lay-out-chart.ts'
import { layoutModule } from '../../../scripts/layout/layout-module.ts'
import type { ChartBox, LaidOutTransition } from '../../../src/chart/chart-layout.ts'
import { chartLayout } from '../../../src/chart/generated/chart-layout.ts'
import { listStates, listTransitions } from '../../../src/chart/list-transitions.ts'

const WIDTH_MAX = 1600
const { states, transitions, width, height } = chartLayout
const boxOf = new Map(states.map((state) => [state.id, state]))
const labelled = transitions.flatMap((one) => (one.label === null ? [] : [{ ...one, label: one.label }]))

test('src/chart/generated/chart-layout.ts is what scripts/chart-layout.ts would write now', async () => {
  const path = new URL('../../../src/chart/generated/chart-layout.ts', import.meta.url)
  expect(layoutModule(await layOutChart(loopMachine, CHART_VERSION))).toBe(readFileSync(path, 'utf8'))
})

test('the layout has every state and every transition of the chart, once', () => {
  const paths = listStates(loopMachine).map(({ path }) => path.join('.'))
  expect(states.map(({ id }) => id)).toEqual(paths.slice(1))
  expect(transitions.map(({ id }) => id)).toEqual(listTransitions(loopMachine).map(({ key }) => key))
})

test('the picture is no wider than a page and everything is on it', () => {
  expect(width).toBeLessThanOrEqual(WIDTH_MAX)
  const page = { x: 0, y: 0, width, height }
  const boxes = [...states, ...labelled.map(({ label }) => label)]
  expect(boxes.filter((box) => !isInside(box, page))).toEqual([])
  const points = transitions.flatMap((one) => one.points)
  expect(points.filter(([x, y]) => x < 0 || y < 0 || x > width || y > height)).toEqual([])
})

test('every state is inside its parent and apart from every other one', () => {
  for (const { parent, ...box } of states) {
    const outer = parent === null ? { x: 0, y: 0, width, height } : boxOf.get(parent)
    expect(outer !== undefined && isInside(box, outer)).toBe(true)
  }
  const siblings = states.flatMap((one, index) =>
    states.slice(index + 1).flatMap((other) => (one.parent === other.parent ? [[one, other] as const] : [])),
  )
  expect(siblings.filter(([one, other]) => isTouching(one, other))).toEqual([])
})

test('no text covers a state, another text or the line of another transition', () => {
  const clashes = labelled.flatMap(({ id, label, points, from }) => [
    ...states
      .filter((state) => isTouching(label, state) && !isInside(label, state))
      .map((state) => `${id} on the edge of ${state.id}`),
    ...states
      .filter(({ kind, ...state }) => kind !== 'compound' && isTouching(label, state) && state.id !== from)
      .map((state) => `${id} in ${state.id}`),
    ...labelled
      .filter((other) => other.id !== id && isTouching(label, other.label))
      .map((other) => `${id} on ${other.id}`),
    ...transitions
      .filter((other) => JSON.stringify(other.points) !== JSON.stringify(points))
      .filter((other) => segmentsOf(other).some((segment) => isTouching(label, segment)))
      .map((other) => `${id} on the line of ${other.id}`),
  ])
  expect(clashes).toEqual([])
})

const [written, drawn] = [true, false].map((isWritten) =>
  transitions.filter(({ event, from, to }) => (event !== 'initial' && from === to) === isWritten),
)

test('a line begins at its source and ends at its target', () => {
  const astray = drawn?.filter(({ event, from, to, points }) => {
    const isBegun = event === 'initial' || isOnEdge(points[0], boxOf.get(from))
    return !isBegun || !isOnEdge(points.at(-1), boxOf.get(to))
  })
  expect(astray).toEqual([])
})

test('a transition from a state to itself is written in that state, without a line', () => {
  const astray = written?.filter(({ from, points, label }) => {
    const box = boxOf.get(from)
    return points.length > 0 || label === null || box === undefined || !isInside(label, box)
  })
  expect(written).not.toHaveLength(0)
  expect(astray).toEqual([])
})

test('another chart gets another layout, with its own states, transitions and version', async () => {
  const machine = setup({ guards: { isReady: () => true } }).createMachine({
    id: 'small',
    initial: 'awake',
    states: {
      awake: { on: { ask: { guard: 'isReady', target: 'asleep' }, 'ask.again': { reenter: true } } },
      asleep: { type: 'final', on: {} },
    },
  })
  const layout = await layOutChart(machine, '9')
  expect(layout).toMatchObject({
    version: '9',
    states: [
      { id: 'awake', parent: null, kind: 'atomic', doc: '' },
      { id: 'asleep', parent: null, kind: 'final' },
    ],
    transitions: [
      { event: 'initial', from: '', to: 'awake', label: null },
      { event: 'ask', from: 'awake', to: 'asleep', guard: 'isReady', text: 'ask [isReady]' },
      { event: 'ask.again', from: 'awake', to: 'awake', text: 'ask.again', points: [] },
    ],
  })
})

function isInside(box: ChartBox, outer: ChartBox): boolean {
  return (
    box.x >= outer.x &&
    box.y >= outer.y &&
    box.x + box.width <= outer.x + outer.width &&
    box.y + box.height <= outer.y + outer.height
  )
}

function isTouching(one: ChartBox, other: ChartBox): boolean {
  return (
    one.x < other.x + other.width &&
    other.x < one.x + one.width &&
    one.y < other.y + other.height &&
    other.y < one.y + one.height
  )
}

/** The straight pieces of a line, one pixel wide. */
function segmentsOf({ points }: Pick<LaidOutTransition, 'points'>): readonly ChartBox[] {
  return points.slice(1).map(([toX, toY], index) => {
    const [x = 0, y = 0] = points[index] ?? []
    return {
      x: Math.min(x, toX) - 0.5,
      y: Math.min(y, toY) - 0.5,
      width: Math.abs(toX - x) + 1,
      height: Math.abs(toY - y) + 1,
    }
  })
}

function isOnEdge(point: readonly [number, number] | undefined, box: ChartBox | undefined): boolean {
  if (point === undefined || box === undefined) return false
  const [x, y] = point
  const isBeside = x >= box.x && x <= box.x + box.width
  return isBeside && (Math.abs(y - box.y) <= 1 || Math.abs(y - box.y - box.height) <= 1)
}
