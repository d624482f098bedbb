import type { JSX } from 'preact'
import { useMemo, useState } from 'preact/hooks'

import type { Frame } from '../../frames/generated/frame.ts'
import { FRAME_KINDS, KIND_DOCS, frameKind, isDecision, isFailure, type FrameKind } from './frame-kind.ts'
import { frameText } from './frame-text.ts'
import { offsetText } from './offset-text.ts'
import { SafeText } from './panels/safe-text.tsx'
import type { RunMarks } from './run-marks.ts'
import type { RunModel } from './run-model.ts'
import { TimelineIndex } from './timeline-index.ts'
import { VirtualList } from './virtual-list.tsx'

/** What the timeline is given. */
export interface TimelineProps {
  readonly run: RunModel
  readonly marks: RunMarks
  readonly at: number
  readonly goTo: (seq: number) => void
}

const ROW_HEIGHT = 26

/** Every frame of the run, one line each, with a filter by kind. */
export function Timeline({ run, marks, at, goTo }: TimelineProps): JSX.Element {
  const [kinds, setKinds] = useState<ReadonlySet<FrameKind> | null>(null)
  // A log never changes what it has: the index of a filter only grows.
  const index = useMemo(() => new TimelineIndex(kinds), [kinds, run.frames])
  index.update(run.frames)
  const start = run.frames[0]?.ts ?? 0
  const toggle = (kind: FrameKind): void => {
    const next = new Set(kinds)
    if (!next.delete(kind)) next.add(kind)
    setKinds(next.size === 0 ? null : next)
  }
  return (
    <section class="timeline" aria-label="Timeline">
      <div class="filters" role="group" aria-label="Kinds of frames">
        <button
          type="button"
          class="filter-chip"
          aria-pressed={kinds === null}
          onClick={() => setKinds(null)}
        >
          all
        </button>
        {FRAME_KINDS.filter((kind) => marks.counts.has(kind)).map((kind) => (
          <button
            key={kind}
            type="button"
            class={`filter-chip kind-${kind}`}
            title={KIND_DOCS[kind]}
            aria-pressed={kinds?.has(kind) ?? false}
            onClick={() => toggle(kind)}
          >
            {kind} <span class="filter-count">{marks.counts.get(kind)}</span>
          </button>
        ))}
      </div>
      <div class="timeline-rows">
        <VirtualList
          count={index.count}
          rowHeight={ROW_HEIGHT}
          label="Frames"
          selected={index.rowOf(at)}
          onSelect={(row) => goTo(index.seqAt(row))}
          renderRow={(row) => <Row frame={run.frames[index.seqAt(row)]} start={start} at={at} />}
        />
      </div>
    </section>
  )
}

function Row({ frame, start, at }: { frame: Frame | undefined; start: number; at: number }): JSX.Element {
  if (frame === undefined) return <div class="frame-row" />
  const isBad = isFailure(frame)
  const classes = [
    'frame-row',
    frame.seq > at && 'is-ahead',
    isBad && 'is-failure',
    isDecision(frame) && 'is-decision',
  ]
  return (
    <div class={classes.filter(Boolean).join(' ')}>
      <span class="frame-seq">{frame.seq}</span>
      <span class={`frame-mark kind-${frameKind(frame)}`} aria-hidden="true" />
      <span class="frame-type">{frame.type}</span>
      <span class="frame-text">
        <SafeText text={frameText(frame)} />
      </span>
      {isBad && <span class="hidden-visually">error</span>}
      <span class="frame-time">{offsetText(frame.ts - start)}</span>
    </div>
  )
}
