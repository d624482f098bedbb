import { placeInOrder, type OrderRule } from './place-in-order.ts'

/** A place of a drawing. */
export type Point = readonly [x: number, y: number]

/** Boxes, each by two corners, and lines of level and upright pieces. */
export interface Drawing {
  readonly width: number
  readonly height: number
  readonly boxes: readonly (readonly [Point, Point])[]
  readonly lines: readonly (readonly Point[])[]
}

/** Along which axis something is: x is 0, y is 1. */
export type AxisIndex = 0 | 1

// What is beside each other comes no closer than it was, or than this.
const GAP = 14
// An arrow head, and some of the line that it is the tip of.
const TIP_LENGTH = 26

/**
 * The drawing with room along one axis: each box at least as long as `lengths` says, and what is in it at least as far
 * from its beginning as `heads` says. Nothing changes places with what is beside it, so that lines still end where they
 * did and run through no box that they did not run through. Its size stays the same.
 */
export function withRoom(
  drawing: Drawing,
  axis: AxisIndex,
  lengths: readonly number[],
  heads: readonly number[],
): Drawing {
  const { width, height, boxes, lines } = drawing
  const edges = boxes.flatMap((box) => edgesOf(box, axis))
  const whole = [
    { at: 0, from: -Infinity, to: Infinity },
    { at: axis === 0 ? width : height, from: -Infinity, to: Infinity },
  ]
  const bars = [...edges, ...whole]
  const barsOfLines = lines.map((line) => barsOf(line, axis, edges, bars))
  const ofBoxes = boxes.flatMap((_, index) => [
    { from: edges[2 * index], to: edges[2 * index + 1], length: lengths[index] ?? 0 },
    ...insideOf(boxes[index], axis, bars).map((bar) => ({
      from: edges[2 * index],
      to: bar,
      length: heads[index] ?? 0,
    })),
  ])
  const place = placesOf(bars, [...ofBoxes, ...barsOfLines.flatMap(tipOf)])
  const moved = (point: Point, bar: Bar | undefined): Point => {
    const at = bar === undefined ? point[axis] : place(bar)
    return axis === 0 ? [at, point[1]] : [point[0], at]
  }
  return {
    ...drawing,
    boxes: boxes.map(([low, high], index) => [
      moved(low, edges[2 * index]),
      moved(high, edges[2 * index + 1]),
    ]),
    lines: lines.map((line, index) => line.map((point, at) => moved(point, barsOfLines[index]?.[at]))),
  }
}

/** What lies across the axis: where on it, and from where to where beside it. */
interface Bar {
  readonly at: number
  readonly from: number
  readonly to: number
}

function edgesOf([low, high]: readonly [Point, Point], axis: AxisIndex): readonly Bar[] {
  const beside = { from: low[1 - axis] ?? 0, to: high[1 - axis] ?? 0 }
  return [
    { at: low[axis], ...beside },
    { at: high[axis], ...beside },
  ]
}

/** The bar of each point of a line, new ones added to `bars`: the edge that the line ends at, or the piece it is of. */
function barsOf(line: readonly Point[], axis: AxisIndex, edges: readonly Bar[], bars: Bar[]): readonly Bar[] {
  const pieces: { at: number; from: number; to: number; points: number }[] = []
  for (const point of line) {
    const [at, beside] = [point[axis], point[1 - axis] ?? 0]
    const piece = pieces.at(-1)
    // The layout has lines that lean by half a pixel.
    if (piece === undefined || !isNear(piece.at, at)) pieces.push({ at, from: beside, to: beside, points: 1 })
    else {
      piece.from = Math.min(piece.from, beside)
      piece.to = Math.max(piece.to, beside)
      piece.points += 1
    }
  }
  return pieces.flatMap(({ points, ...bar }) => {
    const edge =
      points > 1
        ? undefined
        : edges.find(({ at, from, to }) => isNear(at, bar.at) && from <= bar.from && to >= bar.to)
    if (edge === undefined) bars.push(bar)
    return Array.from({ length: points }, () => edge ?? bar)
  })
}

function isNear(a: number, b: number): boolean {
  return Math.abs(a - b) < 1
}

function insideOf(
  box: readonly [Point, Point] | undefined,
  axis: AxisIndex,
  bars: readonly Bar[],
): readonly Bar[] {
  if (box === undefined) return []
  const [low, high] = box
  const [from, to] = [low[1 - axis] ?? 0, high[1 - axis] ?? 0]
  return bars.filter((bar) => bar.at > low[axis] && bar.at < high[axis] && bar.from < to && bar.to > from)
}

interface BarRule {
  readonly from: Bar | undefined
  readonly to: Bar | undefined
  readonly length: number
}

/** The last piece of a line that goes along the axis has room for an arrow head. */
function tipOf(line: readonly Bar[]): readonly BarRule[] {
  const [before, last] = [line.at(-2), line.at(-1)]
  if (before === undefined || last === undefined || before === last) return []
  const [from, to] = before.at < last.at ? [before, last] : [last, before]
  return [{ from, to, length: TIP_LENGTH }]
}

function placesOf(bars: readonly Bar[], asked: readonly BarRule[]): (bar: Bar) => number {
  const ascending = bars.toSorted((a, b) => a.at - b.at)
  const indexes = new Map(ascending.map((bar, index) => [bar, index]))
  const rules: OrderRule[] = ascending.flatMap((bar, to) =>
    ascending.slice(0, to).flatMap((other, from) => {
      const isBeside = other.to + GAP > bar.from && bar.to + GAP > other.from
      return isBeside ? [{ from, to, length: Math.min(GAP, bar.at - other.at) }] : []
    }),
  )
  for (const { from, to, length } of asked) {
    const [first, second] = [from && indexes.get(from), to && indexes.get(to)]
    if (first !== undefined && second !== undefined) rules.push({ from: first, to: second, length })
  }
  const places = placeInOrder(
    ascending.map(({ at }) => at),
    rules,
  )
  return (bar) => places[indexes.get(bar) ?? 0] ?? bar.at
}
