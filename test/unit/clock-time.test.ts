import { expect, test } from 'vitest'

import { timeText } from '../../src/clock.ts'
import { RunLockedError } from '../../src/journal/store-error.ts'

test('a time is told in UTC, and one that no calendar has in words', () => {
  expect(timeText(0)).toBe('1970-01-01T00:00:00.000Z')
  expect(timeText(8.64e15)).toBe('+275760-09-13T00:00:00.000Z')
  for (const ms of [8.64e15 + 1, -1e300, Infinity, Number.NaN]) {
    expect(timeText(ms)).toBe('a time that no calendar has')
  }
})

test('a run that somebody drives since an impossible time is told of all the same', () => {
  const { message } = new RunLockedError('run_1', { pid: 7, host: 'here', since: 1e300 })
  expect(message).toBe('run run_1 is driven by process 7 on here since a time that no calendar has')
})
