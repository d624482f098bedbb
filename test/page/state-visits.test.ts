import { expect, test } from 'vitest'

import { stateSegments } from '../../src/inspect/page/state-segments.ts'
import { StateVisits } from '../../src/inspect/page/state-visits.ts'

/** In `a.x` from 0, `a.y` from 10, `b` from 30, `a.x` from 60: by frame and by time alike. */
function visitsOf(): StateVisits {
  const visits = new StateVisits()
  for (const [state, at] of [
    ['a.x', 0],
    ['a.y', 10],
    ['b', 30],
    ['a.x', 60],
  ] as const)
    visits.enter(state, at, at)
  return visits
}

test('time in a state counts up to the cursor and no further', () => {
  const visits = visitsOf()
  expect(visits.visitsAt('a.x', 5, 5)).toEqual({ count: 1, timeMs: 5 })
  expect(visits.visitsAt('a.x', 40, 40)).toEqual({ count: 1, timeMs: 10 })
  expect(visits.visitsAt('a.x', 75, 75)).toEqual({ count: 2, timeMs: 25 })
})

test('a state that holds others is entered once for each stay in any of them', () => {
  const visits = visitsOf()
  expect(visits.visitsAt('a', 20, 20)).toEqual({ count: 1, timeMs: 20 })
  expect(visits.visitsAt('a', 75, 75)).toEqual({ count: 2, timeMs: 45 })
})

test('a state that is entered again from itself is another visit', () => {
  const visits = new StateVisits()
  visits.enter('a.x', 0, 0)
  visits.enter('a.x', 5, 50)
  expect(visits.visitsAt('a.x', 9, 90)).toEqual({ count: 2, timeMs: 90 })
  expect(visits.visitsAt('a', 9, 90)).toEqual({ count: 1, timeMs: 90 })
  visits.enter('b', 10, 200)
  expect(visits.visitsAt('a.x', 20, 300)).toEqual({ count: 2, timeMs: 200 })
})

test('a state that was not entered yet has no visits', () => {
  const visits = visitsOf()
  expect(visits.visitsAt('b', 29, 29)).toEqual({ count: 0, timeMs: 0 })
  expect(visits.visitsAt('c', 99, 99)).toEqual({ count: 0, timeMs: 0 })
})

test('the state at a frame is the one entered last', () => {
  const visits = visitsOf()
  expect([-1, 0, 9, 10, 59, 60, 999].map((seq) => visits.stateAt(seq))).toEqual([
    null,
    'a.x',
    'a.x',
    'a.y',
    'b',
    'a.x',
    'a.x',
  ])
})

test('states that share a pixel leave no hole and no overlap in the picture of the run', () => {
  const states = [
    'working.responding.streaming',
    'working.executing.running',
    'working.executing.awaitingApproval',
  ]
  const entries = Array.from({ length: 5000 }, (_, seq) => ({ seq, state: states[seq % 3] ?? '' }))
  const segments = stateSegments(entries, 4999, 300)
  let x = 0
  for (const segment of segments) {
    expect(segment.x).toBe(x)
    expect(segment.width).toBeGreaterThan(0)
    x += segment.width
  }
  expect(x).toBe(300)
})

test('a state too short for a pixel does not cut the stretch around it', () => {
  const entries = [
    { seq: 0, state: 'working.responding.streaming' },
    { seq: 500, state: 'done' },
    { seq: 501, state: 'working.responding.streaming' },
  ]
  expect(stateSegments(entries, 1000, 100)).toEqual([{ tone: 'model', x: 0, width: 100 }])
})

test('neighbours of one tone are one stretch', () => {
  const entries = [
    { seq: 0, state: 'working.responding.requesting' },
    { seq: 10, state: 'working.responding.streaming' },
    { seq: 50, state: 'done' },
  ]
  expect(stateSegments(entries, 100, 100)).toEqual([
    { tone: 'model', x: 0, width: 50 },
    { tone: 'good', x: 50, width: 50 },
  ])
})
