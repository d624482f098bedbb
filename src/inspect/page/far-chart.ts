import type { ChartBox, LaidOutState, LaidOutTransition } from '../../chart/chart-layout.ts'

// The width of a character for each unit of its size, in a font of one width.
const CHAR_SHARE = 0.61
/** The size of the line below a name, for each unit of the name's. */
export const VISITS_SHARE = 0.86
// Room for a count and a time, so that no box changes while the run goes on.
const VISITS_CHARS = 12
const HEIGHT_SHARE = 2.35
const GAP = 14
const ROUNDS = 40

/**
 * Where states are drawn when the chart is far away and its names are larger than what they were laid out with: as
 * large as a name and a line of figures below it, pushed apart where they would meet, inside of what they are in.
 */
export function farBoxes(
  states: readonly LaidOutState[],
  size: number,
): ReadonlyMap<string, Readonly<ChartBox>> {
  const outer = new Map(states.filter(({ kind }) => kind === 'compound').map((state) => [state.id, state]))
  const inner = states
    .filter(({ kind }) => kind !== 'compound')
    .map((state) => ({ id: state.id, parent: outer.get(state.parent ?? ''), box: boxFor(state, size) }))
  for (let round = 0; round < ROUNDS; round++) {
    for (const [index, { box }] of inner.entries()) {
      for (const other of inner.slice(index + 1)) pushApart(box, other.box)
    }
    for (const { box, parent } of inner) if (parent !== undefined) keepInside(box, parent)
  }
  return new Map(inner.map(({ id, box }) => [id, box]))
}

type MovableBox = { -readonly [Key in keyof ChartBox]: number }

function boxFor({ label, x, y, width, kind }: LaidOutState, size: number): MovableBox {
  const visitsWidth = kind === 'final' ? 0 : VISITS_CHARS * size * VISITS_SHARE * CHAR_SHARE
  const boxWidth =
    Math.max(label.length * size * CHAR_SHARE, visitsWidth) + size * (kind === 'final' ? 1.1 : 0.6)
  // Most lines come in from above: that side stays where it is.
  return { x: x + (width - boxWidth) / 2, y, width: boxWidth, height: size * HEIGHT_SHARE }
}

/** Moves two boxes that meet by the shorter way, each by half of it. */
function pushApart(a: MovableBox, b: MovableBox): void {
  const meetX = Math.min(a.x + a.width, b.x + b.width) + GAP - Math.max(a.x, b.x)
  const meetY = Math.min(a.y + a.height, b.y + b.height) + GAP - Math.max(a.y, b.y)
  if (meetX <= 0 || meetY <= 0) return
  const [axis, by] = meetX < meetY ? (['x', meetX / 2] as const) : (['y', meetY / 2] as const)
  const [first, second] = a[axis] <= b[axis] ? [a, b] : [b, a]
  first[axis] -= by
  second[axis] += by
}

function keepInside(box: MovableBox, { x, y, width, height }: ChartBox): void {
  box.x = Math.max(x + GAP, Math.min(x + width - GAP - box.width, box.x))
  box.y = Math.max(y + GAP, Math.min(y + height - GAP - box.height, box.y))
}

type Points = LaidOutTransition['points']

/** A line without what is inside of the boxes that it leads from and to, so that its tip is at the border. */
export function lineBetween(points: Points, from: ChartBox | undefined, to: ChartBox | undefined): Points {
  const begun = from === undefined ? points : cutStart(points, from)
  return to === undefined ? begun : cutStart(begun.toReversed(), to).toReversed()
}

/** The line from where it leaves a box for good; as it is when it is never inside, or never leaves. */
function cutStart(points: Points, box: ChartBox): Points {
  const last = points.findLastIndex((point) => isInside(point, box))
  const [inside, outside] = [points[last], points[last + 1]]
  if (inside === undefined || outside === undefined) return points
  return [borderPoint(inside, outside, box), ...points.slice(last + 1)]
}

type Point = Points[number]

function isInside([x, y]: Point, box: ChartBox): boolean {
  return x >= box.x && x <= box.x + box.width && y >= box.y && y <= box.y + box.height
}

/** Where the way from a point inside to one outside crosses the border. */
function borderPoint([x, y]: Point, [toX, toY]: Point, box: ChartBox): Point {
  const share = Math.min(
    shareInside(x, toX, box.x, box.x + box.width),
    shareInside(y, toY, box.y, box.y + box.height),
  )
  return [x + (toX - x) * share, y + (toY - y) * share]
}

function shareInside(from: number, to: number, least: number, most: number): number {
  const border = Math.max(least, Math.min(most, to))
  return to === border ? 1 : (border - from) / (to - from)
}
