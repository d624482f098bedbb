import { expect, test } from 'vitest'

import type { Sample } from '../../../bench/soak/sampler.ts'
import { areMet, secondHalf, slopeOf, verdictsOf, type Measured } from '../../../bench/soak/verdicts.ts'

const SECOND_MS = 1000
const MINUTE_MS = 60 * SECOND_MS

/** A sample every two seconds, each as the function says over one in which nothing happens. */
function soaked(minutes: number, change: (atMs: number) => Partial<Sample> = () => ({})): Measured {
  const samples = Array.from({ length: minutes * 30 }, (_, at) => {
    const atMs = (at + 1) * 2 * SECOND_MS
    return { ...STILL, atMs, ...change(atMs) }
  })
  return {
    samples,
    delay: { p99Ms: 12, maxMs: 80, ownP99Ms: 8 },
    answered: 1000,
    unexpected: 0,
    hangs: 0,
    alarms: 0,
    listenersLeft: 0,
  }
}

const STILL: Sample = {
  atMs: 0,
  rssMb: 300,
  heapMb: 60,
  heapTotalMb: 150,
  externalMb: 20,
  arrayBuffersMb: 5,
  fileMb: 100,
  resources: { Timeout: 250, TCPSocketWrap: 40 },
  descriptors: 120,
  signalListeners: 30,
  processListeners: 9,
  delayP99Ms: 12,
  delayMaxMs: 40,
  cpuShare: 0.4,
  waitShare: 0,
  underway: 30,
  answered: 80,
  unexpected: 0,
}

/** What is missed, by name. */
function missedIn(measured: Measured): readonly string[] {
  return verdictsOf(measured).flatMap(({ what, isMet }) => (isMet === false ? [what] : []))
}

test('the slope of a line is that of the line, and it is certain', () => {
  const points = Array.from({ length: 20 }, (_, x) => [x, 5 + 0.25 * x] as const)
  const { perMinute, error } = slopeOf(points)
  expect(perMinute).toBeCloseTo(0.25)
  expect(error).toBeCloseTo(0)
})

test('the slope of points that jump up and down is less certain than they are far apart', () => {
  const points = Array.from({ length: 20 }, (_, x) => [x, x % 2 === 0 ? 10 : -10] as const)
  const { perMinute, error } = slopeOf(points)
  expect(Math.abs(perMinute)).toBeLessThan(error)
})

test('a single moment has no slope that could be known', () => {
  expect(slopeOf([[1, 5]])).toEqual({ perMinute: 0, error: Number.POSITIVE_INFINITY })
})

test('the second half begins in the middle of the time, not of the samples', () => {
  const samples = [0, 1, 2, 3, 10].map((minute) => ({ ...STILL, atMs: minute * MINUTE_MS }))
  expect(secondHalf(samples).map(({ atMs }) => atMs / MINUTE_MS)).toEqual([10])
})

test('a soak in which nothing grows meets every limit', () => {
  const measured = soaked(10)
  expect(missedIn(measured)).toEqual([])
  expect(areMet(verdictsOf(measured))).toBe(true)
})

test('memory that grows by more than a megabyte a minute in the second half is missed', () => {
  expect(missedIn(soaked(10, (atMs) => ({ rssMb: 300 + (1.2 * atMs) / MINUTE_MS })))).toEqual([
    'slope of RSS in the second half',
  ])
  expect(missedIn(soaked(10, (atMs) => ({ rssMb: 300 + (0.8 * atMs) / MINUTE_MS })))).toEqual([])
})

test('memory that grows only while the process warms up is not missed', () => {
  const measured = soaked(10, (atMs) => ({ rssMb: 300 + Math.min(4, atMs / MINUTE_MS) * 50 }))
  expect(missedIn(measured)).toEqual([])
})

test('handles, descriptors and listeners that pile up are each missed by their name', () => {
  const measured = soaked(10, (atMs) => ({
    resources: { Timeout: 250, TCPSocketWrap: 40 + atMs / SECOND_MS },
    descriptors: 120 + atMs / SECOND_MS,
    signalListeners: 30 + atMs / SECOND_MS,
    processListeners: 9 + atMs / MINUTE_MS / 0.5,
  }))
  expect(missedIn(measured)).toEqual([
    'open file descriptors',
    'abort listeners on the lasting signal',
    'listeners of the process',
    'active TCPSocketWrap',
  ])
})

test('a kind of handle that nobody had in the middle is missed when many have it at the end', () => {
  const measured = soaked(10, (atMs) => ({
    resources:
      atMs > 8 * MINUTE_MS ? { Timeout: 250, TCPSocketWrap: 40, FSReqCallback: 50 } : STILL.resources,
  }))
  expect(missedIn(measured)).toEqual(['active FSReqCallback'])
})

test('what more messages at a time hold is not taken for growth', () => {
  const busy = { underway: 60, signalListeners: 60, descriptors: 150 }
  expect(missedIn(soaked(10, (atMs) => (atMs < 8 * MINUTE_MS ? {} : busy)))).toEqual([])
})

test('an event loop that is late is missed', () => {
  const delay = { p99Ms: 51, maxMs: 300, ownP99Ms: 20 }
  expect(missedIn({ ...soaked(10), delay })).toEqual(['delay of the event loop in the second half, p99'])
})

test('one wrong answer, one hang, one alarm or one listener that is left is missed, however short the soak', () => {
  const wrong = { unexpected: 1, hangs: 1, alarms: 1, listenersLeft: 1 }
  expect(missedIn({ ...soaked(0), ...wrong })).toHaveLength(4)
  expect(areMet(verdictsOf({ ...soaked(0), ...wrong }))).toBe(false)
})

test('a soak without a single answer is not a good one', () => {
  expect(missedIn({ ...soaked(0), answered: 0 })).toHaveLength(1)
})

test('a soak that is too short to tell says so instead of judging memory', () => {
  const measured = soaked(0.5, (atMs) => ({ rssMb: atMs }))
  expect(missedIn(measured)).toEqual([])
  expect(verdictsOf(measured).map(({ measured: value }) => value)).toContain('too short to say')
})
