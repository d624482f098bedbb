import { shareOf } from './scrubber-scale.ts'
import { stateTone, type StateTone } from './state-tone.ts'

/** A stretch of the run in one tone, in whole pixels. */
export interface StateSegment {
  readonly tone: StateTone
  readonly x: number
  readonly width: number
}

/** The states of a run over its frames, as stretches to draw. Of states that share a pixel the last is seen. */
export function stateSegments(
  entries: readonly { readonly seq: number; readonly state: string }[],
  last: number,
  widthPixels: number,
): readonly StateSegment[] {
  const begins: { tone: StateTone; x: number }[] = []
  for (const { seq, state } of entries) {
    const x = Math.floor(shareOf(seq, last) * widthPixels)
    const tone = stateTone(state)
    while ((begins.at(-1)?.x ?? -1) >= x) begins.pop()
    if (begins.at(-1)?.tone !== tone) begins.push({ tone, x })
  }
  return begins
    .map(({ tone, x }, index) => ({ tone, x, width: (begins[index + 1]?.x ?? widthPixels) - x }))
    .filter(({ width }) => width > 0)
}
