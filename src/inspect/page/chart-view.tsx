import type { JSX } from 'preact'
import { useCallback, useRef } from 'preact/hooks'

import { chartLayout } from '../../chart/generated/chart-layout.ts'
import type { HistoryStep } from '../run-history.ts'
import { ownMode, type CameraMode } from './chart-camera.ts'
import { ChartDrawing, READABLE_SCALE } from './chart-drawing.tsx'
import { ChartMap } from './chart-map.tsx'
import { durationText } from './derive/figures.ts'
import { stateName } from './state-name.ts'
import { stateTone } from './state-tone.ts'
import { withParents, type StateVisits } from './state-visits.ts'
import { useCamera } from './use-camera.ts'
import { useSettled } from './use-settled.ts'
import { useSize } from './use-size.ts'

/** What the picture of the chart is given. */
export interface ChartViewProps {
  /** Where the run is at the cursor; null before its first frame. */
  readonly state: string | null
  readonly step: HistoryStep | null
  readonly visits: StateVisits
  readonly at: number
  /** The time at the cursor. */
  readonly ts: number
  /** Why the chart cannot follow the log; null when it can. */
  readonly problem: string | null
  /** Null while nobody has said how. */
  readonly mode: CameraMode | null
  readonly onMode: (mode: CameraMode) => void
}

const ZOOM_STEP = 1.25
const TABLE_PAUSE_MS = 300
const WHEEL_SPEED = 0.0015
const TRANSITIONS = new Map(chartLayout.transitions.map((transition) => [transition.id, transition]))
const STATES = new Map(chartLayout.states.map((state) => [state.id, state]))

/** The chart with the run in it: the active state lit, the last step drawn, visits and time of every state. */
export function ChartView(props: ChartViewProps): JSX.Element {
  const { state, step, visits, at, ts, problem, onMode } = props
  const svg = useRef<SVGSVGElement>(null)
  const stage = useRef<HTMLDivElement>(null)
  const viewport = useSize(stage)
  const mode = props.mode ?? ownMode(chartLayout, viewport)
  const place = STATES.get(state ?? '') ?? null
  const onMove = useCallback(() => onMode('free'), [onMode])
  const camera = useCamera(svg, viewport, place, mode, onMove)
  const scale = viewport.width === 0 ? 1 : viewport.width / camera.view.width
  const active = state === null ? [] : withParents(state)
  const taken = (step?.transitions ?? []).flatMap((id) => TRANSITIONS.get(id) ?? [])
  const onWheel = (event: WheelEvent): void => {
    event.preventDefault()
    const box = svg.current?.getBoundingClientRect()
    if (box === undefined) return
    const scale = box.width / camera.view.width
    camera.zoom(Math.exp(-event.deltaY * WHEEL_SPEED), {
      x: camera.view.x + (event.clientX - box.left) / scale,
      y: camera.view.y + (event.clientY - box.top) / scale,
    })
  }
  const onPointerMove = (event: PointerEvent): void => {
    if (event.buttons === 1) camera.drag(event.movementX, event.movementY)
  }
  return (
    <section class="chart" aria-label="Chart">
      <div class="chart-stage" ref={stage} onWheel={onWheel} onPointerMove={onPointerMove}>
        <svg
          class={`chart-svg${scale < READABLE_SCALE ? ' is-far' : ''}`}
          ref={svg}
          role="img"
          aria-label={chartLabel(state)}
        >
          <ChartDrawing
            active={active}
            visitsOf={(id) => visits.visitsAt(id, at, ts)}
            taken={taken}
            stepKey={step?.seq ?? -1}
            scale={scale}
          />
        </svg>
        {mode !== 'whole' && <ChartMap active={active} view={camera.view} />}
        <div class="chart-tools" role="group" aria-label="Look at the chart">
          <CameraButton mode="follow" text="Follow" now={mode} onMode={onMode} />
          <CameraButton mode="whole" text="Whole" now={mode} onMode={onMode} />
          <button
            type="button"
            class="icon-button"
            aria-label="Zoom in"
            onClick={() => camera.zoom(ZOOM_STEP)}
          >
            +
          </button>
          <button
            type="button"
            class="icon-button"
            aria-label="Zoom out"
            onClick={() => camera.zoom(1 / ZOOM_STEP)}
          >
            −
          </button>
        </div>
      </div>
      {problem === null ? <StepCaption step={step} /> : <p class="chart-caption is-problem">{problem}</p>}
      <VisitTable visits={visits} at={at} ts={ts} />
    </section>
  )
}

function chartLabel(state: string | null): string {
  return state === null ? 'The chart of the loop' : `The chart of the loop, at ${state.replaceAll('.', ', ')}`
}

interface CameraButtonProps {
  readonly mode: CameraMode
  readonly text: string
  readonly now: CameraMode
  readonly onMode: (mode: CameraMode) => void
}

function CameraButton({ mode, text, now, onMode }: CameraButtonProps): JSX.Element {
  return (
    <button type="button" class="small-button" aria-pressed={now === mode} onClick={() => onMode(mode)}>
      {text}
    </button>
  )
}

/** What moved the run last, and through which states. */
function StepCaption({ step }: { step: HistoryStep | null }): JSX.Element {
  if (step === null) return <p class="chart-caption">Nothing has happened yet.</p>
  const path = step.entered.map(({ state }) => state)
  return (
    <p class="chart-caption">
      <code class="event-name">{step.by}</code>
      {path.length === 0 ? (
        <span class="soft">no other state</span>
      ) : (
        path.map((state, index) => (
          <span key={index} class={`path-state tone-${stateTone(state)}`} title={state}>
            {stateName(state)}
          </span>
        ))
      )}
    </p>
  )
}

/** What the badges in the picture say, for those who do not see it. It waits until the cursor stands still. */
function VisitTable({ visits, ...cursor }: { visits: StateVisits; at: number; ts: number }): JSX.Element {
  const at = useSettled(cursor.at, TABLE_PAUSE_MS)
  const ts = useSettled(cursor.ts, TABLE_PAUSE_MS)
  const rows = chartLayout.states.flatMap(({ id }) => {
    const { count, timeMs } = visits.visitsAt(id, at, ts)
    return count === 0 ? [] : [{ id, count, timeMs }]
  })
  return (
    <table class="hidden-visually">
      <caption>Visits and time per state up to the cursor</caption>
      <thead>
        <tr>
          <th scope="col">State</th>
          <th scope="col">Visits</th>
          <th scope="col">Time</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ id, count, timeMs }) => (
          <tr key={id}>
            <th scope="row">{id}</th>
            <td>{count}</td>
            <td>{durationText(timeMs)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
