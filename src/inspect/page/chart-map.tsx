import type { JSX } from 'preact'

import type { ChartBox } from '../../chart/chart-layout.ts'
import { chartLayout } from '../../chart/generated/chart-layout.ts'
import { stateTone } from './state-tone.ts'

/** What the small map shows. */
export interface ChartMapProps {
  readonly active: readonly string[]
  /** The part of the chart that the large picture shows. */
  readonly view: ChartBox
}

/** The whole chart, small, so that one sees where the large picture is. It says nothing that the large one does not. */
export function ChartMap({ active, view }: ChartMapProps): JSX.Element {
  return (
    <svg
      class="chart-map"
      viewBox={`-8 -8 ${chartLayout.width + 16} ${chartLayout.height + 16}`}
      aria-hidden="true"
    >
      {chartLayout.states.map(({ id, kind, x, y, width, height }) => (
        <rect
          key={id}
          class={`map-state ${kind} tone-${stateTone(id)}${active.includes(id) ? ' is-active' : ''}`}
          x={x}
          y={y}
          width={width}
          height={height}
          rx="14"
        />
      ))}
      <rect class="map-view" x={view.x} y={view.y} width={view.width} height={view.height} rx="14" />
    </svg>
  )
}
