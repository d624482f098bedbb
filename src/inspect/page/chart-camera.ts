import type { ChartBox, ChartLayout } from '../../chart/chart-layout.ts'

/** How the chart is looked at: at the active state, as a whole, or where somebody has moved it. */
export type CameraMode = 'follow' | 'whole' | 'free'

/** The size of what the chart is shown in. */
export interface Viewport {
  readonly width: number
  readonly height: number
}

const MARGIN = 16
// The buttons at the top would cover what is there.
const TOOLS_PIXELS = 40
// At this size the names of transitions can be read.
const READING_SCALE = 0.85
const SCALE_MAX = 2.5
// Below this not even the names of states can be read.
const WHOLE_SCALE_MIN = 0.22

/** All of the chart, in the shape of the viewport. */
export function wholeView(layout: ChartLayout, viewport: Viewport): ChartBox {
  const scale = Math.min(
    viewport.width / (layout.width + 2 * MARGIN),
    Math.max(1, viewport.height - TOOLS_PIXELS) / (layout.height + 2 * MARGIN),
  )
  const view = centred(layout.width / 2, layout.height / 2, viewport, scale)
  // Not to the middle of what is left: where there is room, the chart stays in the middle of all.
  const top = -MARGIN - (TOOLS_PIXELS * view.height) / Math.max(1, viewport.height)
  return { ...view, y: Math.min(view.y, top) }
}

/** How the chart is looked at when nobody has said: as a whole, unless that would be too small to see anything. */
export function ownMode(layout: ChartLayout, viewport: Viewport): CameraMode {
  return viewport.width >= wholeView(layout, viewport).width * WHOLE_SCALE_MIN ? 'whole' : 'follow'
}

/** A state and what is around it, large enough to be read. */
export function viewOfState(layout: ChartLayout, state: ChartBox, viewport: Viewport): ChartBox {
  const view = centred(state.x + state.width / 2, state.y + state.height / 2, viewport, READING_SCALE)
  return {
    ...view,
    x: within(view.x, view.width, layout.width),
    y: within(view.y, view.height, layout.height),
  }
}

/** A view made larger or smaller around a point of the chart; above 1 shows more detail. */
export function zoomed(
  view: ChartBox,
  factor: number,
  viewport: Viewport,
  layout: ChartLayout,
  about = middle(view),
): ChartBox {
  const least = viewport.width / wholeView(layout, viewport).width
  const scale = Math.max(least, Math.min(SCALE_MAX, (viewport.width / view.width) * factor))
  const width = viewport.width / scale
  const height = viewport.height / scale
  return {
    x: about.x - ((about.x - view.x) / view.width) * width,
    y: about.y - ((about.y - view.y) / view.height) * height,
    width,
    height,
  }
}

/** A view on the way from one to another; `share` is from 0 to 1. */
export function between(from: ChartBox, to: ChartBox, share: number): ChartBox {
  const mix = (a: number, b: number): number => a + (b - a) * share
  return {
    x: mix(from.x, to.x),
    y: mix(from.y, to.y),
    width: mix(from.width, to.width),
    height: mix(from.height, to.height),
  }
}

/** As the attribute of an SVG element is written. */
export function viewBoxText({ x, y, width, height }: ChartBox): string {
  return [x, y, width, height].map((length) => Math.round(length * 100) / 100).join(' ')
}

function middle({ x, y, width, height }: ChartBox): { readonly x: number; readonly y: number } {
  return { x: x + width / 2, y: y + height / 2 }
}

function centred(x: number, y: number, viewport: Viewport, scale: number): ChartBox {
  const width = Math.max(1, viewport.width) / Math.max(scale, 0.01)
  const height = Math.max(1, viewport.height) / Math.max(scale, 0.01)
  return { x: x - width / 2, y: y - height / 2, width, height }
}

/** Does not show emptiness beside the chart where there is chart to show. */
function within(start: number, length: number, whole: number): number {
  if (length >= whole + 2 * MARGIN) return (whole - length) / 2
  return Math.max(-MARGIN, Math.min(whole + MARGIN - length, start))
}
