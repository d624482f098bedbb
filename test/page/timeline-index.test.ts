import { expect, test } from 'vitest'

import { frameKind, FRAME_KINDS, type FrameKind } from '../../src/inspect/page/frame-kind.ts'
import { TimelineIndex } from '../../src/inspect/page/timeline-index.ts'
import { FIXTURE_RUNS } from './derive/fixture-runs.ts'

test('a filter shows the frames of its kinds and no others, however they arrive', () => {
  for (const [, frames] of FIXTURE_RUNS) {
    for (const kind of FRAME_KINDS) {
      const kinds: ReadonlySet<FrameKind> = new Set<FrameKind>([kind, 'state'])
      const index = new TimelineIndex(kinds)
      for (let end = 0; end <= frames.length; end += 7) index.update(frames.slice(0, end))
      index.update(frames)
      const wanted = frames.filter((frame) => kinds.has(frameKind(frame))).map(({ seq }) => seq)
      expect(Array.from({ length: index.count }, (_, row) => index.seqAt(row))).toEqual(wanted)
    }
  }
})

test('without a filter a row is its frame', () => {
  const index = new TimelineIndex(null)
  index.update(FIXTURE_RUNS[0]?.[1] ?? [])
  expect(index.count).toBe(FIXTURE_RUNS[0]?.[1].length)
  expect([index.seqAt(7), index.rowOf(7), index.rowOf(1e6)]).toEqual([7, 7, index.count - 1])
})

test('a frame that is filtered out stands at the row before it', () => {
  const index = new TimelineIndex(new Set(['state']))
  const [, frames] = FIXTURE_RUNS.find(([name]) => name === 'answer.jsonl') ?? ['', []]
  index.update(frames)
  expect(
    frames
      .slice(0, 7)
      .map(({ type }) => type)
      .filter((type) => type === 'state_entered'),
  ).toHaveLength(2)
  expect([index.rowOf(0), index.rowOf(1), index.rowOf(2), index.rowOf(6)]).toEqual([-1, 0, 0, 1])
})
