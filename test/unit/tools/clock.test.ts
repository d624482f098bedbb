import { afterEach, expect, test, vi } from 'vitest'

import { systemClock } from '../../../src/clock.ts'

afterEach(() => {
  vi.useRealTimers()
})

test('a timer of the system clock fires once its time has come, also after weeks', () => {
  vi.useFakeTimers()
  const fire = vi.fn<() => void>()
  const waitMs = 40 * 24 * 3_600_000
  systemClock.setTimer(systemClock.now() + waitMs, fire)
  vi.advanceTimersByTime(waitMs - 1)
  expect(fire).not.toHaveBeenCalled()
  vi.advanceTimersByTime(1)
  expect(fire).toHaveBeenCalledTimes(1)
})

test('a timer that is taken back never fires', () => {
  vi.useFakeTimers()
  const fire = vi.fn<() => void>()
  systemClock.setTimer(systemClock.now() + 2 ** 32, fire)()
  vi.advanceTimersByTime(2 ** 33)
  expect(fire).not.toHaveBeenCalled()
})

test('a timer whose time has passed fires as soon as it can', () => {
  vi.useFakeTimers()
  const fire = vi.fn<() => void>()
  systemClock.setTimer(systemClock.now() - 5, fire)
  vi.advanceTimersByTime(1)
  expect(fire).toHaveBeenCalledTimes(1)
})
