import type { ChartBox, ChartLayout, LaidOutState, LaidOutTransition } from './chart-layout.ts'
import { xmlText } from './xml-text.ts'

/** What a picture of the chart may be given besides the chart. */
export interface ChartSvgOptions {
  /** What a screen reader calls the picture. */
  readonly title?: string
  /** What it says about it. */
  readonly description?: string
}

/**
 * The chart as an SVG document: text as text, light and dark by the reader's preference, nothing loaded from
 * elsewhere. A state is drawn around what is in it; transitions from a state to itself are written in it.
 */
export function chartSvg(layout: ChartLayout, options: ChartSvgOptions = {}): string {
  const { width, height, states, transitions } = layout
  const routes = [...Map.groupBy(transitions, ({ points }) => JSON.stringify(points)).values()]
  const outer = states.filter(({ kind }) => kind === 'compound')
  const title = options.title ?? 'The agent loop as a statechart'
  const description = options.description ?? describe(layout)
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="chart-title chart-desc">`,
    `<title id="chart-title">${xmlText(title)}</title>`,
    `<desc id="chart-desc">${xmlText(description)}</desc>`,
    `<style>${STYLE}</style>`,
    '<defs><marker id="chart-arrow" viewBox="0 0 8 8" refX="7.5" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path class="tip" d="M0 0.5 8 4 0 7.5z"/></marker></defs>',
    `<rect class="page" width="${width}" height="${height}"/>`,
    ...states.map((state) => stateGroup(state)),
    ...routes.flatMap(([first]) => (first === undefined ? [] : lineOf(first))),
    ...transitions.flatMap((transition) => labelOf(transition, outer)),
    '</svg>',
    '',
  ].join('\n')
}

const STYLE = `
svg{--page:#fff;--outer:#f6f8fa;--inner:#fff;--line:#8c959f;--edge:#57606a;--text:#1f2328;--soft:#57606a;--accent:#0969da;--end:#1a7f37}
@media (prefers-color-scheme:dark){svg{--page:#0d1117;--outer:#161b22;--inner:#0d1117;--line:#6e7681;--edge:#9198a1;--text:#e6edf3;--soft:#9da7b3;--accent:#58a6ff;--end:#3fb950}}
text{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',monospace;font-size:12px;fill:var(--text)}
.name{font-size:14px;font-weight:600}
.runs{fill:var(--soft)}
.guard{fill:var(--accent)}
.page{fill:var(--page)}
.state rect{fill:var(--inner);stroke:var(--line);stroke-width:1.5}
.compound rect{fill:var(--outer)}
.final rect{stroke:var(--end)}
.edge{fill:none;stroke:var(--edge);stroke-width:1.25}
.dot,.tip{fill:var(--edge)}
.label rect{fill:var(--page)}
.inner rect{fill:var(--outer)}
.within rect{fill:none}
`

function describe({ states }: ChartLayout): string {
  const said = states.map(({ id, kind, doc }) => `${id}${kind === 'final' ? ' (final)' : ''}: ${doc}`)
  return `The states of a run and the ways between them. ${said.join(' ')}`
}

function stateGroup({ id, label, doc, kind, runs, ...box }: LaidOutState): string {
  const { x, y, width, height } = box
  const rect = (inset: number, radius: number): string =>
    `<rect x="${x + inset}" y="${y + inset}" width="${width - 2 * inset}" height="${height - 2 * inset}" rx="${radius}"/>`
  return [
    `<g class="state ${kind}" data-state="${xmlText(id)}"><title>${xmlText(`${id}: ${doc}`)}</title>`,
    rect(0, 10),
    // Two lines around it: the usual mark of a final state.
    ...(kind === 'final' ? [rect(4, 7)] : []),
    `<text class="name" x="${x + 12}" y="${y + 24}">${xmlText(label)}</text>`,
    ...(runs.length === 0
      ? []
      : [`<text class="runs" x="${x + 12}" y="${y + 46}">runs ${xmlText(runs.join(', '))}</text>`]),
    '</g>',
  ].join('')
}

function lineOf({ event, points }: LaidOutTransition): readonly string[] {
  const [start] = points
  if (start === undefined) return []
  const line = `<path class="edge" marker-end="url(#chart-arrow)" d="${roundedPath(points)}"/>`
  if (event !== 'initial') return [line]
  return [`<circle class="dot" cx="${start[0]}" cy="${start[1]}" r="5"/>`, line]
}

const CORNER_PIXELS = 6

/** A line through the points, its corners rounded. */
export function roundedPath(points: LaidOutTransition['points']): string {
  return points
    .map((point, index) => {
      const before = points[index - 1]
      const after = points[index + 1]
      if (before === undefined) return `M${point.join(' ')}`
      if (after === undefined) return `L${point.join(' ')}`
      return `L${towards(point, before)}Q${point.join(' ')} ${towards(point, after)}`
    })
    .join('')
}

type Point = readonly [x: number, y: number]

/** The point a corner's radius away from one point in the direction of another, at most half the way. */
function towards([x, y]: Point, [toX, toY]: Point): string {
  const length = Math.hypot(toX - x, toY - y)
  const share = length === 0 ? 0 : Math.min(CORNER_PIXELS, length / 2) / length
  return `${twoPlaces(x + (toX - x) * share)} ${twoPlaces(y + (toY - y) * share)}`
}

function twoPlaces(length: number): number {
  return Math.round(length * 100) / 100
}

function labelOf(transition: LaidOutTransition, outer: readonly ChartBox[]): readonly string[] {
  const { id, text, guard, doc, reenter, points, label } = transition
  if (label === null) return []
  const isWithin = points.length === 0
  const event = guard === null ? text : text.slice(0, -`[${guard}]`.length)
  const mark = isWithin && reenter ? '↻ ' : ''
  const words = `${xmlText(mark + event)}${guard === null ? '' : `<tspan class="guard">[${xmlText(guard)}]</tspan>`}`
  // What is behind the text hides the line that it stands on, so it has the colour of the state around it.
  const place = isWithin ? ' within' : outer.some((box) => isInside(label, box)) ? ' inner' : ''
  return [
    `<g class="label${place}" data-transition="${xmlText(id)}"><title>${xmlText(doc)}</title>${rectOf(label)}<text x="${label.x + 6}" y="${label.y + 13}">${words}</text></g>`,
  ]
}

function isInside(box: ChartBox, outer: ChartBox): boolean {
  return (
    box.x >= outer.x &&
    box.y >= outer.y &&
    box.x + box.width <= outer.x + outer.width &&
    box.y + box.height <= outer.y + outer.height
  )
}

function rectOf({ x, y, width, height }: ChartBox): string {
  return `<rect x="${x}" y="${y}" width="${width}" height="${height}" rx="3"/>`
}
