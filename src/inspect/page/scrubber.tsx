import type { JSX } from 'preact'
import { useMemo, useRef } from 'preact/hooks'

import { offsetText } from './offset-text.ts'
import type { RunMarks } from './run-marks.ts'
import type { RunModel } from './run-model.ts'
import { markColumns, seqAfterKey, seqAtShare, shareOf } from './scrubber-scale.ts'
import { stateSegments } from './state-segments.ts'
import { stateName } from './state-name.ts'
import type { StateVisits } from './state-visits.ts'
import { useSize } from './use-size.ts'

/** What the scrubber is given. */
export interface ScrubberProps {
  readonly run: RunModel
  readonly marks: RunMarks
  readonly visits: StateVisits
  readonly at: number
  readonly goTo: (seq: number) => void
}

const HEIGHT = 34

/** The whole run on one line, by frames: its states, turns, decisions and errors, and the cursor that can be moved. */
export function Scrubber({ run, marks, visits, at, goTo }: ScrubberProps): JSX.Element {
  const track = useRef<HTMLDivElement>(null)
  const { width } = useSize(track)
  const last = run.frames.length - 1
  const goToPointer = (event: PointerEvent): void => {
    const box = track.current?.getBoundingClientRect()
    if (box === undefined || last < 0) return
    goTo(seqAtShare((event.clientX - box.left) / Math.max(1, box.width), last))
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    const next = seqAfterKey(event.key, at, last)
    if (next === null || event.altKey || event.ctrlKey || event.metaKey) return
    event.preventDefault()
    event.stopPropagation()
    goTo(next)
  }
  const offset = offsetText((run.frames[at]?.ts ?? 0) - (run.frames[0]?.ts ?? 0))
  const x = shareOf(at, last) * Math.max(0, width - 1)
  return (
    <div
      class="scrubber"
      ref={track}
      role="slider"
      tabIndex={0}
      aria-label="Place in the run"
      aria-valuemin={0}
      aria-valuemax={Math.max(0, last)}
      aria-valuenow={Math.max(0, at)}
      aria-valuetext={`frame ${at} of ${last}, ${offset} seconds, ${stateName(visits.stateAt(at) ?? 'not begun')}`}
      onKeyDown={onKeyDown}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId)
        goToPointer(event)
      }}
      onPointerMove={(event) => {
        if (event.currentTarget.hasPointerCapture(event.pointerId)) goToPointer(event)
      }}
    >
      <svg class="scrubber-svg" width={width} height={HEIGHT} aria-hidden="true">
        <Tracks run={run} marks={marks} visits={visits} width={width} />
        <rect class="scrub-ahead" x={x} y="0" width={Math.max(0, width - x)} height={HEIGHT} />
        <rect
          class="scrub-cursor"
          x={Math.max(0, Math.min(width - 2, x - 1))}
          y="0"
          width="2"
          height={HEIGHT}
        />
        <path class="scrub-grip" d={`M${x - 5} 0h10v5l-5 5l-5-5z`} />
      </svg>
    </div>
  )
}

type TracksProps = Pick<ScrubberProps, 'run' | 'marks' | 'visits'> & { readonly width: number }

/** All that does not move with the cursor: made once for each state of the log. */
function Tracks({ run, marks, visits, width }: TracksProps): JSX.Element {
  return useMemo(() => {
    const last = run.frames.length - 1
    const ticks = (seqs: readonly number[], y: number, height: number): string =>
      markColumns(seqs, last, width)
        .map((column) => `M${column + 0.5} ${y}v${height}`)
        .join('')
    return (
      <g>
        <rect class="scrub-track" x="0" y="12" width={width} height="10" rx="2" />
        {stateSegments(visits.entries, last, width).map((segment) => (
          <rect
            key={segment.x}
            class={`scrub-state tone-${segment.tone}`}
            x={segment.x}
            y="12"
            width={segment.width}
            height="10"
          />
        ))}
        <path class="scrub-turns" d={ticks(marks.turns, 2, 20)} />
        <path class="scrub-decisions" d={ticks(marks.decisions, 24, 4)} />
        <path class="scrub-errors" d={ticks(marks.failures, 24, 9)} />
      </g>
    )
  }, [run.version, width, marks, visits])
}
