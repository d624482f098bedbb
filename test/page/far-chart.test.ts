import { expect, test } from 'vitest'

import type { ChartBox } from '../../src/chart/chart-layout.ts'
import { chartLayout } from '../../src/chart/generated/chart-layout.ts'
import { farBoxes, lineBetween } from '../../src/inspect/page/far-chart.ts'

const SIZES = [19, 22, 25, 29]

function areApart(a: ChartBox, b: ChartBox): boolean {
  const isBeside = a.x + a.width <= b.x || b.x + b.width <= a.x
  return isBeside || a.y + a.height <= b.y || b.y + b.height <= a.y
}

function isIn(box: ChartBox, outer: ChartBox): boolean {
  return (
    box.x >= outer.x &&
    box.y >= outer.y &&
    box.x + box.width <= outer.x + outer.width &&
    box.y + box.height <= outer.y + outer.height
  )
}

function near(a: number, b: number): boolean {
  return Math.abs(a - b) < 0.01
}

function onBorder([x, y]: readonly [number, number], box: ChartBox): boolean {
  const isWithin = x >= box.x - 0.01 && x <= box.x + box.width + 0.01
  const isBetween = y >= box.y - 0.01 && y <= box.y + box.height + 0.01
  return (
    ((near(x, box.x) || near(x, box.x + box.width)) && isBetween) ||
    ((near(y, box.y) || near(y, box.y + box.height)) && isWithin)
  )
}

test.each(SIZES)('from far away, with names of size %i, no state covers another', (size) => {
  const boxes = [...farBoxes(chartLayout.states, size)]
  expect(boxes.length).toBe(chartLayout.states.filter(({ kind }) => kind !== 'compound').length)
  const met = boxes.flatMap(([id, box], index) =>
    boxes
      .slice(index + 1)
      .flatMap(([other, otherBox]) => (areApart(box, otherBox) ? [] : [`${id} ${other}`])),
  )
  expect(met).toEqual([])
})

test.each(SIZES)('from far away, with names of size %i, a state stays in the one that it is in', (size) => {
  const boxes = farBoxes(chartLayout.states, size)
  const wrong = chartLayout.states.filter(({ id, parent, label }) => {
    const box = boxes.get(id)
    if (box === undefined) return false
    const outer = chartLayout.states.find((state) => state.id === parent)
    return box.width < label.length * size * 0.6 || (outer !== undefined && !isIn(box, outer))
  })
  expect(wrong.map(({ id }) => id)).toEqual([])
})

test('a line that ran into a state that has grown begins and ends at a border', () => {
  const boxes = farBoxes(chartLayout.states, 29)
  const cut = chartLayout.transitions.flatMap(({ points, from, to }) => {
    const [source, target] = [boxes.get(from), boxes.get(to)]
    const line = lineBetween(points, source, target)
    const ends = [
      { point: line[0], was: points[0], box: source },
      { point: line.at(-1), was: points.at(-1), box: target },
    ]
    return ends.flatMap(({ point, was, box }) =>
      point === undefined || box === undefined || point === was ? [] : [{ point, box }],
    )
  })
  expect(cut.length).toBeGreaterThan(10)
  expect(cut.filter(({ point, box }) => !onBorder(point, box))).toEqual([])
})

test('a line comes in at the side where its last corner is inside', () => {
  const box = { x: 0, y: 0, width: 10, height: 10 }
  const line = [
    [30, 30],
    [30, 5],
    [5, 5],
    [5, 2],
  ] as const
  expect(lineBetween(line, undefined, box)).toEqual([
    [30, 30],
    [30, 5],
    [10, 5],
  ])
  expect(lineBetween(line.toReversed(), box, undefined)).toEqual([
    [10, 5],
    [30, 5],
    [30, 30],
  ])
})
