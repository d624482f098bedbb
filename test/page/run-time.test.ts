import { expect, test } from 'vitest'

import { RunTime } from '../../src/inspect/page/run-time.ts'

test('a run that waits since an hour has waited for an hour, also when it was opened just now', () => {
  const time = new RunTime()
  time.arrived(1000, 3_601_000, false)
  expect(time.at(3_602_000, 1000)).toBe(3_602_000)
})

test('what this clock is ahead of the one of the log does not count', () => {
  const time = new RunTime()
  time.arrived(5000, 65_000, true)
  time.arrived(6000, 66_400, true)
  expect(time.at(70_000, 6000)).toBe(10_000)
})

test('a clock that is behind the one of the log is put right by any frame, and time never goes back', () => {
  const time = new RunTime()
  time.arrived(100_000, 40_000, false)
  expect(time.at(41_000, 100_000)).toBe(101_000)
  expect(new RunTime().at(10, 5000)).toBe(5000)
})
