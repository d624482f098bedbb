import type { JSX } from 'preact'
import { useMemo } from 'preact/hooks'

import type { Frame } from '../../../frames/generated/frame.ts'
import type { RunDiff } from '../answers.ts'
import { diffJson } from '../derive/diff-json.ts'
import { fieldsOf } from '../derive/json-fields.ts'
import { frameText } from '../frame-text.ts'
import type { JsonObject } from '../../../protocol/json.ts'
import { Nothing, RunLink, SeqLink } from './marks.tsx'
import { Change } from './change.tsx'
import { SafeText } from './safe-text.tsx'

/** Two runs held side by side. */
export interface Comparison {
  readonly other: string
  readonly diff: RunDiff
  /** Frames of the other run around the place. */
  readonly frames: readonly Frame[]
  /** Which of the two had ended before they were compared. */
  readonly hasEnded: { readonly a: boolean; readonly b: boolean }
}

interface SidesProps {
  readonly runId: string
  readonly frames: readonly Frame[]
  readonly found: Comparison
  readonly around: number
  readonly goTo: (seq: number) => void
}

/** Two runs side by side, at the first thing that differs. */
export function CompareSides({ runId, frames, found, around, goTo }: SidesProps): JSX.Element {
  const { diff, other, hasEnded } = found
  const [a, b] = [diff.at?.a ?? null, diff.at?.b ?? null]
  const [mine, theirs] = [a === null ? undefined : frames[a], found.frames.find(({ seq }) => seq === b)]
  const own = a === null ? [] : frames.slice(Math.max(0, a - around), a + around + 1)
  return (
    <>
      <p class={diff.isSame ? 'note note-good' : 'note note-warn'} role="status">
        <SafeText text={diff.text} />
      </p>
      {!diff.isSame && (
        <div class="twins">
          <Side title="a, this run:" runId={runId} at={a} frames={own} hasEnded={hasEnded.a} goTo={goTo} />
          <Side
            title="b, the other:"
            runId={other}
            at={b}
            frames={found.frames}
            hasEnded={hasEnded.b}
            goTo={null}
          />
        </div>
      )}
      {mine !== undefined && theirs !== undefined && <FrameChanges mine={mine} theirs={theirs} />}
    </>
  )
}

interface SideProps {
  /** With the letter by which the sentence above speaks of the run. */
  readonly title: string
  readonly runId: string
  readonly at: number | null
  readonly frames: readonly Frame[]
  readonly hasEnded: boolean
  /** Null for a run that is not the one on the page. */
  readonly goTo: ((seq: number) => void) | null
}

function Side({ title, runId, at, frames, hasEnded, goTo }: SideProps): JSX.Element {
  return (
    <section class="twin">
      <h3 class="twin-title">
        {title} <RunLink runId={runId} at={at} />
      </h3>
      {at === null && (
        <Nothing
          text={hasEnded ? 'It ended before this.' : 'It had not come so far when they were compared.'}
        />
      )}
      <ol class="twin-frames">
        {frames.map((frame) => (
          <li key={frame.seq} class={frame.seq === at ? 'twin-frame is-apart' : 'twin-frame'}>
            {goTo === null ? (
              <span class="seq-text">#{frame.seq}</span>
            ) : (
              <SeqLink seq={frame.seq} goTo={goTo} />
            )}
            <code>
              <SafeText text={frame.type} />
            </code>
            <span class="one-line dim">
              <SafeText text={frameText(frame)} />
            </span>
          </li>
        ))}
      </ol>
    </section>
  )
}

// What differs between any two runs and says nothing about either.
const BESIDE: ReadonlySet<string> = new Set(['v', 'run_id', 'seq', 'ts'])

function FrameChanges({ mine, theirs }: { readonly mine: Frame; readonly theirs: Frame }): JSX.Element {
  const { changes, isCut } = useMemo(() => diffJson(payload(mine), payload(theirs)), [mine, theirs])
  return (
    <section class="detail-part">
      <h4>From the frame of a to that of b</h4>
      {changes.length === 0 && (
        <p class="dim">These two frames are the same: what differs is in what follows from them.</p>
      )}
      <div class="changes">
        {changes.map((change, index) => (
          <Change key={index} change={change} />
        ))}
      </div>
      {isCut && <p class="dim">There is more.</p>}
    </section>
  )
}

function payload(frame: Frame): JsonObject {
  return Object.fromEntries(Object.entries(fieldsOf(frame)).filter(([key]) => !BESIDE.has(key)))
}
