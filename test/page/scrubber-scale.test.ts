import { expect, test } from 'vitest'

import { markColumns, seqAfterKey, seqAtShare, shareOf } from '../../src/inspect/page/scrubber-scale.ts'

test('every frame is found again at its own place', () => {
  for (const last of [1, 2, 57, 1000]) {
    for (let seq = 0; seq <= last; seq++) expect(seqAtShare(shareOf(seq, last), last)).toBe(seq)
  }
})

test('a pointer outside of the scrubber is at its nearer end', () => {
  expect(seqAtShare(-3, 100)).toBe(0)
  expect(seqAtShare(1.2, 100)).toBe(100)
})

test('a run of no frame or of one has one place', () => {
  expect([shareOf(0, 0), shareOf(-1, -1), seqAtShare(0.7, 0), seqAtShare(0.7, -1)]).toEqual([0, 0, 0, 0])
})

test('a hundred thousand marks are at most as many as there are pixels', () => {
  const seqs = Array.from({ length: 100_000 }, (_, seq) => seq)
  const columns = markColumns(seqs, 99_999, 800)
  expect(columns).toEqual(Array.from({ length: 800 }, (_, column) => column))
})

test('the first and the last frame are marked inside of the scrubber', () => {
  expect(markColumns([0, 10], 10, 200)).toEqual([0, 199])
})

test.each([
  ['ArrowRight', 50, 51],
  ['ArrowUp', 50, 51],
  ['ArrowLeft', 50, 49],
  ['ArrowDown', 50, 49],
  ['PageUp', 50, 60],
  ['PageDown', 50, 40],
  ['Home', 50, 0],
  ['End', 50, 100],
  ['ArrowLeft', 0, 0],
  ['ArrowRight', 100, 100],
  ['PageDown', 3, 0],
  ['PageUp', 99, 100],
])('%s leads from frame %i to frame %i of 100', (key, from, to) => {
  expect(seqAfterKey(key, from, 100)).toBe(to)
})

test('a page of a long run is a twentieth of it', () => {
  expect(seqAfterKey('PageUp', 0, 100_000)).toBe(5000)
})

test('other keys are not for the scrubber', () => {
  expect(seqAfterKey('x', 5, 10)).toBeNull()
})
