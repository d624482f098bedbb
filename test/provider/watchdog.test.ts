import { expect, test } from 'vitest'

import { Watchdog, type StopCause } from '../../src/provider/watchdog.ts'
import type { SimulatedClock } from '../../src/testing/simulated-clock.ts'
import { ManualClock } from '../manual-clock.ts'

function watch(clock: SimulatedClock): { dog: Watchdog; stops: StopCause[]; caller: AbortController } {
  const stops: StopCause[] = []
  const caller = new AbortController()
  return { dog: new Watchdog(clock, caller.signal, (cause) => stops.push(cause)), stops, caller }
}

test('all limits share one timer, which is set anew only for one that is sooner', () => {
  const clock = new ManualClock()
  const { dog } = watch(clock)
  dog.arm('headers', 60)
  dog.arm('total', 1000)
  expect(clock.armed).toEqual([clock.now() + 60])
  dog.arm('connect', 10)
  expect(clock.armed).toEqual([clock.now() + 10])
  dog.end()
  expect(clock.armed).toEqual([])
})

test('a limit that is moved on again and again is reached at its last time, and not before', () => {
  const clock = new ManualClock()
  const { dog, stops } = watch(clock)
  dog.arm('idle', 100)
  dog.arm('total', 10_000)
  for (let piece = 0; piece < 5; piece += 1) {
    clock.advance(90)
    dog.arm('idle', 100)
  }
  clock.advance(99)
  expect(stops).toEqual([])
  clock.advance(1)
  expect([stops, clock.timersArmed]).toEqual([['idle'], 0])
})

test('a limit that was taken back stops nothing, and those behind it still hold', () => {
  const clock = new ManualClock()
  const { dog, stops } = watch(clock)
  dog.arm('headers', 60)
  dog.arm('total', 1000)
  dog.disarm('headers')
  clock.advance(999)
  expect(stops).toEqual([])
  clock.advance(1)
  expect(stops).toEqual(['total'])
})

test('when none is left, the timer rings once more and is not set again', () => {
  const clock = new ManualClock()
  const { dog, stops } = watch(clock)
  dog.arm('headers', 60)
  dog.disarm('headers')
  clock.advance(60)
  expect([stops, clock.timersArmed]).toEqual([[], 0])
})

test('a clock that is set back makes no limit longer', () => {
  let wall = 1_000_000
  const timers: { in: number; fire: () => void }[] = []
  const clock = {
    now: () => wall,
    // As the clock of the machine does it: how long to wait is known from the time of the wall, and waited for without it.
    setTimer: (atMs: number, fire: () => void) => {
      timers.push({ in: atMs - wall, fire })
      return () => undefined
    },
  }
  const stops: StopCause[] = []
  const dog = new Watchdog(clock, new AbortController().signal, (cause) => stops.push(cause))
  dog.arm('headers', 60)
  dog.arm('total', 1000)
  dog.disarm('headers')
  wall -= 3_600_000
  timers[0]?.fire()
  expect(timers.map((timer) => timer.in)).toEqual([60, 940])
  timers[1]?.fire()
  expect(stops).toEqual(['total'])
})

test('a caller who lets go stops it once, and after its end nobody does', () => {
  const clock = new ManualClock()
  const { dog, stops, caller } = watch(clock)
  dog.arm('total', 10)
  caller.abort()
  clock.advance(10)
  dog.arm('idle', 1)
  clock.advance(1)
  expect([stops, clock.timersArmed]).toEqual([['aborted'], 0])
})
