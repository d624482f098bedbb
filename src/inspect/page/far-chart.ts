import type { ChartBox, ChartLayout, LaidOutState, LaidOutTransition } from '../../chart/chart-layout.ts'
import { withRoom, type Point } from './with-room.ts'

/** Where the parts of the chart are drawn, where that is not where they were laid out. */
export interface ChartPlaces {
  /** By the ids of states. */
  readonly boxes: ReadonlyMap<string, ChartBox>
  /** By the ids of transitions. */
  readonly lines: ReadonlyMap<string, Points>
}

type Points = LaidOutTransition['points']

// The width of a character for each unit of its size, in a font of one width.
const CHAR_SHARE = 0.61
/** The size of the line below a name, for each unit of the name's. */
export const VISITS_SHARE = 0.86
// Room for a count and a time, so that no box changes while the run goes on.
const VISITS_CHARS = 12
const HEIGHT_SHARE = 2.35
// What the second border of a final state takes of its room, on both sides together.
const FINAL_INSET = 14

/**
 * Where things are drawn when the chart is far away and its names are larger than what they were laid out with: a state
 * has room for its name and a line of figures, and whatever is beside it makes way.
 */
export function farPlaces({ width, height, states, transitions }: ChartLayout, size: number): ChartPlaces {
  const routes = [...Map.groupBy(transitions, ({ points }) => JSON.stringify(points)).values()].filter(
    ([first]) => (first?.points.length ?? 0) > 0,
  )
  const drawing = {
    width,
    height,
    boxes: states.map(({ x, y, width: w, height: h }): [Point, Point] => [
      [x, y],
      [x + w, y + h],
    ]),
    lines: routes.map(([first]) => first?.points ?? []),
  }
  const wide = withRoom(
    drawing,
    0,
    states.map((state) => widthOf(state, size)),
    [],
  )
  const whole = withRoom(
    wide,
    1,
    states.map((state) => heightOf(state, size)),
    states.map(() => size * HEIGHT_SHARE),
  )
  return {
    boxes: new Map(whole.boxes.map((corners, index) => [states[index]?.id ?? '', boxOf(corners)])),
    lines: new Map(
      whole.lines.flatMap((line, index) => (routes[index] ?? []).map(({ id }) => [id, line] as const)),
    ),
  }
}

function widthOf({ label, kind }: LaidOutState, size: number): number {
  const visitsWidth = kind === 'final' ? 0 : VISITS_CHARS * size * VISITS_SHARE * CHAR_SHARE
  const textWidth = Math.max(label.length * size * CHAR_SHARE, visitsWidth)
  return textWidth + size * 0.6 + (kind === 'final' ? FINAL_INSET : 0)
}

function heightOf({ kind }: LaidOutState, size: number): number {
  return size * HEIGHT_SHARE + (kind === 'final' ? FINAL_INSET : 0)
}

function boxOf([[x, y], [right, bottom]]: readonly [Point, Point]): ChartBox {
  return { x, y, width: right - x, height: bottom - y }
}
