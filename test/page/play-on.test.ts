import { expect, test } from 'vitest'

import { playOn, type PlayPosition } from '../../src/inspect/page/play-on.ts'

const START: PlayPosition = { seq: 0, restMs: 0 }

function at(...times: readonly number[]): readonly { readonly ts: number }[] {
  return times.map((ts) => ({ ts }))
}

test('a run is played by its recorded time', () => {
  const frames = at(0, 100, 300, 1000)
  expect(playOn(frames, START, 99, 1)).toEqual({ seq: 0, restMs: 99 })
  expect(playOn(frames, START, 100, 1)).toEqual({ seq: 1, restMs: 0 })
  expect(playOn(frames, START, 350, 1)).toEqual({ seq: 2, restMs: 50 })
})

test('many short moments lead as far as one long one', () => {
  const frames = at(0, 100, 300, 1000, 1700)
  let position = START
  for (let moment = 0; moment < 100; moment++) position = playOn(frames, position, 10, 1)
  expect(position).toEqual(playOn(frames, START, 1000, 1))
})

test.each([4, 16] as const)('at %i times a moment is worth that many', (speed) => {
  const frames = at(...Array.from({ length: 200 }, (_, seq) => seq * 100))
  expect(playOn(frames, START, 100, speed).seq).toBe(speed)
})

test('a long silence is played as two seconds', () => {
  const frames = at(0, 3_600_000, 3_600_100)
  expect(playOn(frames, START, 1999, 1).seq).toBe(0)
  expect(playOn(frames, START, 2000, 1).seq).toBe(1)
})

test('frames of one moment are passed together', () => {
  expect(playOn(at(0, 5, 5, 5, 9), START, 5, 1).seq).toBe(3)
})

test('a clock that was set back stops nothing', () => {
  expect(playOn(at(1000, 500, 600), START, 100, 1).seq).toBe(2)
})

test('the player stays at the last frame', () => {
  expect(playOn(at(0, 1), START, 1e9, 1)).toEqual({ seq: 1, restMs: 0 })
  expect(playOn(at(0, 1), { seq: 1, restMs: 0 }, 10, 'max')).toEqual({ seq: 1, restMs: 0 })
})

test('at full speed the longest run takes five seconds and a short one can still be watched', () => {
  const long = at(...Array.from({ length: 100_000 }, () => 0))
  expect(playOn(long, START, 2500, 'max').seq).toBe(50_000)
  expect(playOn(long, START, 5000, 'max').seq).toBe(99_999)
  expect(playOn(long.slice(0, 100), START, 100, 'max').seq).toBe(20)
})

test('at full speed parts of a frame are not lost', () => {
  let position = START
  const frames = at(...Array.from({ length: 100 }, () => 0))
  for (let moment = 0; moment < 10; moment++) position = playOn(frames, position, 1, 'max')
  expect(position.seq).toBe(2)
})
