import { expect, test } from 'vitest'

import { SimulatedClock } from '../../src/testing/simulated-clock.ts'

test('time stands still until it is moved', () => {
  const clock = new SimulatedClock(100)
  expect(clock.now()).toBe(100)
  clock.advance(50)
  expect(clock.now()).toBe(150)
})

test('timers fire in the order of their times, each at its own, and none before', () => {
  const clock = new SimulatedClock(0)
  const fired: unknown[] = []
  clock.setTimer(30, () => fired.push(['late', clock.now()]))
  clock.setTimer(10, () => {
    fired.push(['early', clock.now()])
    clock.setTimer(20, () => fired.push(['between', clock.now()]))
  })
  clock.setTimer(31, () => fired.push('never'))
  clock.advance(30)
  expect(fired).toEqual([
    ['early', 10],
    ['between', 20],
    ['late', 30],
  ])
  expect(clock.armed).toEqual([31])
})

test('a timer that was taken back does not fire', () => {
  const clock = new SimulatedClock(0)
  const disarm = clock.setTimer(1, () => {
    throw new Error('it fired')
  })
  disarm()
  clock.advance(10)
  expect(clock.armed).toEqual([])
})

test('a timer of the past fires as soon as time moves at all, and turns no clock back', () => {
  const clock = new SimulatedClock(100)
  let firedAt = 0
  clock.setTimer(5, () => {
    firedAt = clock.now()
  })
  clock.advance(0)
  expect(firedAt).toBe(100)
})
