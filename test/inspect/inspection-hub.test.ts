import { expect, test } from 'vitest'

import type { InspectionEvent } from '../../src/inspect/inspection-event.ts'
import { InspectionHub } from '../../src/inspect/inspection-hub.ts'
import { inspectionOf } from '../../src/inspect/inspection.ts'
import { readLog } from '../replay/read-log.ts'

const EVENTS = [...inspectionOf(readLog('calls-and-approval'))]

/** So many streams of one log after another, each as the stream of a run of its own. */
function streams(count: number): readonly InspectionEvent[] {
  return Array.from({ length: count }, (_, at) =>
    EVENTS.map((event) => ({ ...event, sessionId: `run_${at}`, rootId: `run_${at}` })),
  ).flat()
}

test('whoever reads from the start gets every event, once and in order', () => {
  const hub = new InspectionHub()
  const seen: InspectionEvent[] = []
  hub.subscribe((event) => void seen.push(event))
  for (const event of EVENTS) hub.inspect(event)
  expect(seen).toEqual(EVENTS)
})

test('whoever comes after thousands of events gets every chart and every current state, then the latest events', () => {
  const hub = new InspectionHub({ tail: 50 })
  const all = streams(100)
  expect(all.length).toBeGreaterThan(3000)
  for (const event of all) hub.inspect(event)
  const seen: InspectionEvent[] = []
  hub.subscribe((event) => void seen.push(event))
  const charts = seen.slice(0, 100)
  expect(charts.every(({ type }) => type === '@xstate.actor')).toBe(true)
  expect(new Set(charts.map(({ sessionId }) => sessionId)).size).toBe(100)
  expect(seen.slice(-50)).toEqual(all.filter(({ type }) => type !== '@xstate.actor').slice(-50))
  for (const { sessionId } of charts) {
    const last = seen.findLast((event) => event.sessionId === sessionId && event.type === '@xstate.snapshot')
    expect(last).toEqual(all.findLast((event) => event.sessionId === sessionId))
  }
  expect(new Set(seen).size).toBe(seen.length)
})

test('one long run is known to a late reader by its chart, its state and its tail, however long it was', () => {
  const hub = new InspectionHub()
  const [actor, ...rest] = EVENTS
  if (actor === undefined) throw new Error('the stream is empty')
  hub.inspect(actor)
  const lengths = new Set<number>()
  for (let sent = 0; sent < 5000; sent += 1) {
    const event = rest[sent % rest.length]
    if (event !== undefined) hub.inspect({ ...event })
    const seen: InspectionEvent[] = []
    hub.subscribe((missed) => void seen.push(missed))()
    expect(seen[0]).toBe(actor)
    expect(seen.at(-1)).toEqual(event)
    if (sent > 200) lengths.add(seen.length)
  }
  // The chart and the tail, which has the latest state.
  expect([...lengths]).toEqual([1 + 200])
})

test('a reader that comes between two events misses neither and gets neither twice', () => {
  for (let at = 0; at <= EVENTS.length; at += 1) {
    const hub = new InspectionHub({ tail: 1000 })
    const seen: InspectionEvent[] = []
    for (const event of EVENTS.slice(0, at)) hub.inspect(event)
    hub.subscribe((event) => void seen.push(event))
    for (const event of EVENTS.slice(at)) hub.inspect(event)
    expect(seen).toEqual(EVENTS)
  }
})

test('a reader that has gone, or has thrown, hears nothing more, and the others hear everything', () => {
  const hub = new InspectionHub()
  const [gone, broken, kept]: InspectionEvent[][] = [[], [], []]
  const leave = hub.subscribe((event) => void gone?.push(event))
  hub.subscribe((event) => {
    broken?.push(event)
    throw new Error('broken')
  })
  hub.subscribe((event) => void kept?.push(event))
  for (const [at, event] of EVENTS.entries()) {
    if (at === 3) leave()
    hub.inspect(event)
  }
  expect(gone).toHaveLength(3)
  expect(broken).toHaveLength(1)
  expect(kept).toEqual(EVENTS)
})

test('a run that is forgotten is unknown to whoever comes then', () => {
  const hub = new InspectionHub()
  for (const event of streams(2)) hub.inspect(event)
  hub.forget('run_0')
  const seen = new Set<string>()
  hub.subscribe(({ sessionId }) => void seen.add(sessionId))
  expect([...seen]).toEqual(['run_1'])
})

test('a hub without a tail still has the charts and the states', () => {
  const hub = new InspectionHub({ tail: 0 })
  for (const event of EVENTS) hub.inspect(event)
  const seen: InspectionEvent[] = []
  hub.subscribe((event) => void seen.push(event))
  expect(seen).toEqual([EVENTS[0], EVENTS.at(-1)])
  expect(() => new InspectionHub({ tail: -1 })).toThrow('tail must be')
})
