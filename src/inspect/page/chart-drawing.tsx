import type { JSX } from 'preact'
import { useMemo } from 'preact/hooks'

import type { ChartBox, LaidOutState, LaidOutTransition } from '../../chart/chart-layout.ts'
import { roundedPath } from '../../chart/chart-svg.ts'
import { chartLayout } from '../../chart/generated/chart-layout.ts'
import { durationText } from './derive/figures.ts'
import { farPlaces, VISITS_SHARE, type ChartPlaces } from './far-chart.ts'
import { stateTone } from './state-tone.ts'
import type { Visits } from './state-visits.ts'

const ROUTES: readonly LaidOutTransition[] = [
  ...new Map(
    chartLayout.transitions
      .filter(({ points }) => points.length > 0)
      .map((transition) => [JSON.stringify(transition.points), transition]),
  ).values(),
]
/** Below this the texts of the chart are too small to be read: names are drawn larger, and the rest is left out. */
export const READABLE_SCALE = 0.55
const FAR_NAME_PIXELS = 10.5
// Much larger names would leave the chart no room for anything else.
const FAR_NAME_SIZE_MAX = 34
const BADGE_SIZE = 11
// The width of a character for each unit of its size, in a font of one width.
const CHAR_SHARE = 0.61
const OUTER = chartLayout.states.filter(({ kind }) => kind === 'compound')
const AS_LAID_OUT: ChartPlaces = { boxes: new Map(), lines: new Map() }

/** What the drawing shows of the run at the cursor. */
export interface ChartDrawingProps {
  /** The active state and all that it is in. */
  readonly active: readonly string[]
  readonly visitsOf: (state: string) => Visits
  /** The transitions of the last step, in order. */
  readonly taken: readonly LaidOutTransition[]
  /** Another one for each step, so that it is drawn anew. */
  readonly stepKey: number
  /** Pixels of the page for each of the chart. */
  readonly scale: number
}

/** The chart, the active state lit, the last step drawn over it. Text is text, never markup. */
export function ChartDrawing({ active, visitsOf, taken, stepKey, scale }: ChartDrawingProps): JSX.Element {
  const farSize = scale < READABLE_SCALE ? Math.min(FAR_NAME_SIZE_MAX, FAR_NAME_PIXELS / scale) : null
  const places = useMemo(() => (farSize === null ? AS_LAID_OUT : farPlaces(chartLayout, farSize)), [farSize])
  const takenIds = new Set(taken.map(({ id }) => id))
  return (
    <>
      <ArrowHeads />
      {chartLayout.states.map((state) => (
        <StateBox
          key={state.id}
          state={state}
          box={places.boxes.get(state.id) ?? state}
          isActive={active.includes(state.id)}
          isLit={active.at(-1) === state.id}
        />
      ))}
      <Lines places={places} />
      <TakenLines taken={taken} places={places} stepKey={stepKey} />
      {farSize === null &&
        chartLayout.transitions.map((transition) => (
          <Label key={transition.id} transition={transition} isTaken={takenIds.has(transition.id)} />
        ))}
      {chartLayout.states.map((state) =>
        farSize === null ? (
          <g key={state.id}>
            <NearName state={state} />
            <VisitBadge state={state} visits={visitsOf(state.id)} />
          </g>
        ) : (
          <FarName
            key={state.id}
            state={state}
            box={places.boxes.get(state.id) ?? state}
            size={farSize}
            visits={visitsOf(state.id)}
          />
        ),
      )}
    </>
  )
}

/** Every way there is; the same for as long as the chart is looked at from as far. */
function Lines({ places }: { places: ChartPlaces }): JSX.Element {
  return useMemo(
    () => (
      <>
        {ROUTES.map((route) => {
          const points = pointsOf(route, places)
          const [start] = points
          return (
            <g key={route.id}>
              {route.event === 'initial' && <circle class="dot" cx={start?.[0]} cy={start?.[1]} r="5" />}
              <path class="edge" marker-end="url(#arrow)" d={roundedPath(points)} />
            </g>
          )
        })}
      </>
    ),
    [places],
  )
}

type TakenLinesProps = Pick<ChartDrawingProps, 'taken' | 'stepKey'> & { readonly places: ChartPlaces }

function TakenLines({ taken, places, stepKey }: TakenLinesProps): JSX.Element {
  const lines = taken.filter(({ points }) => points.length > 0)
  return (
    <>
      {lines.map((transition, index) => (
        <path
          key={`${stepKey} ${index}`}
          class={index === lines.length - 1 ? 'taken is-last' : 'taken'}
          data-taken={transition.id}
          marker-end="url(#arrow-taken)"
          pathLength="1"
          d={roundedPath(pointsOf(transition, places))}
        />
      ))}
    </>
  )
}

function pointsOf({ id, points }: LaidOutTransition, places: ChartPlaces): LaidOutTransition['points'] {
  return places.lines.get(id) ?? points
}

function ArrowHeads(): JSX.Element {
  return (
    <defs>
      <marker id="arrow" viewBox="0 0 8 8" refX="7.5" refY="4" markerWidth="8" markerHeight="8" orient="auto">
        <path class="tip" d="M0 0.5 8 4 0 7.5z" />
      </marker>
      <marker
        id="arrow-taken"
        viewBox="0 0 8 8"
        refX="6"
        refY="4"
        markerWidth="4"
        markerHeight="4"
        orient="auto"
      >
        <path class="tip-taken" d="M0 0.5 8 4 0 7.5z" />
      </marker>
    </defs>
  )
}

interface StateBoxProps {
  readonly state: LaidOutState
  readonly box: ChartBox
  readonly isActive: boolean
  readonly isLit: boolean
}

function StateBox({ state, box, isActive, isLit }: StateBoxProps): JSX.Element {
  const { id, doc, kind } = state
  const { x, y, width, height } = box
  const classes = ['state', kind, `tone-${stateTone(id)}`, isActive && 'is-active', isLit && 'is-lit']
  return (
    <g class={classes.filter(Boolean).join(' ')} data-state={id}>
      <title>{`${id}: ${doc}`}</title>
      <rect x={x} y={y} width={width} height={height} rx="10" />
      {kind === 'final' && <rect x={x + 4} y={y + 4} width={width - 8} height={height - 8} rx="7" />}
    </g>
  )
}

function NearName({ state: { label, runs, x, y } }: { state: LaidOutState }): JSX.Element {
  return (
    <>
      <text class="state-name" x={x + 12} y={y + 24}>
        {label}
      </text>
      {runs.length > 0 && (
        <text class="state-runs" x={x + 12} y={y + 46}>
          {`runs ${runs.join(', ')}`}
        </text>
      )}
    </>
  )
}

interface FarNameProps {
  readonly state: LaidOutState
  readonly box: ChartBox
  readonly size: number
  readonly visits: Visits
}

/** The name at the top of its state, in the middle unless it holds others, and the visits below it. */
function FarName({ state, box, size, visits }: FarNameProps): JSX.Element {
  const { id, label, kind } = state
  const isOuter = kind === 'compound'
  const place = {
    x: isOuter ? box.x + size / 2 : box.x + box.width / 2,
    'text-anchor': isOuter ? 'start' : 'middle',
  } as const
  // Both lines are in the middle together, or the name alone until there is something to say below it.
  const middleY = box.y + box.height / 2
  const nameY = isOuter ? box.y + size * 1.05 : middleY - size * (visits.count > 0 ? 0.1 : -0.35)
  return (
    <g
      class={`far tone-${stateTone(id)}${isOuter ? ' is-outer' : ''}`}
      data-visits={visits.count > 0 ? id : undefined}
    >
      <text class="far-name" font-size={size} y={nameY} {...place}>
        {label}
      </text>
      {visits.count > 0 && (
        <text class="far-visits" font-size={size * VISITS_SHARE} y={nameY + size} {...place}>
          {visitsText(visits)}
        </text>
      )}
    </g>
  )
}

function visitsText({ count, timeMs }: Visits): string {
  return `×${count}${timeMs > 0 ? ` ${durationText(timeMs)}` : ''}`
}

function Label({
  transition,
  isTaken,
}: {
  transition: LaidOutTransition
  isTaken: boolean
}): JSX.Element | null {
  const { text, guard, doc, reenter, points, label } = transition
  if (label === null) return null
  const isWithin = points.length === 0
  const event = guard === null ? text : text.slice(0, -`[${guard}]`.length)
  const place = isWithin ? 'within' : OUTER.some((box) => isInside(label, box)) ? 'inner' : 'outside'
  return (
    <g class={`edge-label ${place}${isTaken ? ' is-taken' : ''}`}>
      <title>{doc}</title>
      <rect x={label.x} y={label.y} width={label.width} height={label.height} rx="3" />
      <text x={label.x + 6} y={label.y + 13}>
        {isWithin && reenter ? '↻ ' : ''}
        {event}
        {guard !== null && <tspan class="guard">{`[${guard}]`}</tspan>}
      </text>
    </g>
  )
}

function VisitBadge({ state, visits }: { state: LaidOutState; visits: Visits }): JSX.Element | null {
  if (visits.count === 0) return null
  const text = visitsText(visits)
  const height = BADGE_SIZE * 1.6
  const width = text.length * BADGE_SIZE * CHAR_SHARE + height * 0.7
  const x = state.x + state.width - width + 8
  const y = state.y - height * 0.55
  return (
    <g class={`visit-badge tone-${stateTone(state.id)}`} data-visits={state.id}>
      <rect x={x} y={y} width={width} height={height} rx={height / 2} />
      <text font-size={BADGE_SIZE} x={x + height * 0.35} y={y + height * 0.72}>
        {text}
      </text>
    </g>
  )
}

function isInside(box: ChartBox, outer: ChartBox): boolean {
  return (
    box.x >= outer.x &&
    box.y >= outer.y &&
    box.x + box.width <= outer.x + outer.width &&
    box.y + box.height <= outer.y + outer.height
  )
}
