import { expect, test } from 'vitest'

import type { ChartBox } from '../../src/chart/chart-layout.ts'
import { chartLayout } from '../../src/chart/generated/chart-layout.ts'
import { farPlaces } from '../../src/inspect/page/far-chart.ts'

// From the smallest that names are drawn at to the largest.
const SIZES = [19, 22, 25, 29, 34]

interface FarChart {
  readonly boxes: readonly (readonly [id: string, box: ChartBox])[]
  readonly lines: readonly {
    readonly id: string
    readonly from: string
    readonly to: string
    readonly points: readonly (readonly [x: number, y: number])[]
  }[]
}

function farChart(size: number): FarChart {
  const { boxes, lines } = farPlaces(chartLayout, size)
  return {
    boxes: [...boxes],
    lines: chartLayout.transitions.flatMap(({ id, from, to }) => {
      const points = lines.get(id)
      return points === undefined ? [] : [{ id, from, to, points }]
    }),
  }
}

function isOuter(id: string): boolean {
  return chartLayout.states.some((state) => state.id === id && state.kind === 'compound')
}

function isApart(a: ChartBox, b: ChartBox): boolean {
  const isBeside = a.x + a.width <= b.x || b.x + b.width <= a.x
  return isBeside || a.y + a.height <= b.y || b.y + b.height <= a.y
}

function isIn(box: ChartBox, outer: ChartBox): boolean {
  return (
    box.x > outer.x &&
    box.y > outer.y &&
    box.x + box.width < outer.x + outer.width &&
    box.y + box.height < outer.y + outer.height
  )
}

function near(a: number, b: number): boolean {
  return Math.abs(a - b) < 0.01
}

function isOnBorder([x, y]: readonly [number, number], box: ChartBox): boolean {
  const isWithin = x > box.x && x < box.x + box.width
  return isWithin && (near(y, box.y) || near(y, box.y + box.height))
}

/** A box around a piece of a line, with so much room on each side. */
function around(
  [x, y]: readonly [number, number],
  [toX, toY]: readonly [number, number],
  room: number,
): ChartBox {
  return {
    x: Math.min(x, toX) - room,
    y: Math.min(y, toY) - room,
    width: Math.abs(toX - x) + 2 * room,
    height: Math.abs(toY - y) + 2 * room,
  }
}

test.each(SIZES)('from far away, with names of size %i, no state covers another', (size) => {
  const boxes = farChart(size).boxes.filter(([id]) => !isOuter(id))
  expect(boxes.length).toBe(chartLayout.states.filter(({ kind }) => kind !== 'compound').length)
  const met = boxes.flatMap(([id, box], index) =>
    boxes.slice(index + 1).flatMap(([other, otherBox]) => (isApart(box, otherBox) ? [] : [`${id} ${other}`])),
  )
  expect(met).toEqual([])
})

test.each(SIZES)(
  'from far away, with names of size %i, a state has room for its name, in its own',
  (size) => {
    const { boxes } = farPlaces(chartLayout, size)
    const picture = { x: 0, y: 0, width: chartLayout.width, height: chartLayout.height }
    const wrong = chartLayout.states.filter(({ id, parent, label }) => {
      const box = boxes.get(id)
      const outer = boxes.get(parent ?? '') ?? picture
      return (
        box === undefined ||
        box.width < label.length * size * 0.6 ||
        box.height < size * 2.3 ||
        !isIn(box, outer)
      )
    })
    expect(wrong.map(({ id }) => id)).toEqual([])
  },
)

test.each(SIZES)(
  'from far away, with names of size %i, the names of outer states are above all in them',
  (size) => {
    const { boxes } = farChart(size)
    const covered = boxes
      .filter(([id]) => isOuter(id))
      .flatMap(([id, { x, y, width }]) => {
        const head = { x, y, width, height: size * 2.3 }
        return boxes
          .filter(([other, box]) => other.startsWith(`${id}.`) && !isApart(head, box))
          .map(([other]) => other)
      })
    expect(covered).toEqual([])
  },
)

test.each(SIZES)('from far away, with names of size %i, every line begins and ends at its state', (size) => {
  const { boxes, lines } = farChart(size)
  const byId = new Map(boxes)
  const loose = lines.flatMap(({ id, from, to, points }) => {
    const ends = [
      // The way into a state begins at a dot, which is at no border.
      { point: points[0], box: id.includes('initial') ? undefined : byId.get(from) },
      { point: points.at(-1), box: byId.get(to) },
    ]
    return ends.flatMap(({ point, box }) =>
      point === undefined || box === undefined || isOnBorder(point, box) ? [] : [id],
    )
  })
  expect(lines.length).toBeGreaterThan(20)
  expect(loose).toEqual([])
})

test.each(SIZES)('from far away, with names of size %i, no line runs through a state or along it', (size) => {
  const { boxes, lines } = farChart(size)
  const through = lines.flatMap(({ id, from, to, points }) =>
    points.slice(1).flatMap((point, index) => {
      const before = points[index] ?? point
      return boxes
        .filter(([state]) => !isOuter(state))
        .filter(([state, box]) => {
          const room = state === from || state === to ? -0.1 : 5
          return !isApart(around(before, point, room), box)
        })
        .map(([state]) => `${id} through ${state}`)
    }),
  )
  expect(through).toEqual([])
})
