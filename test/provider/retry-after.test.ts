import { expect, test } from 'vitest'

import { retryAtOf } from '../../src/provider/retry-after.ts'

const NOW_MS = Date.UTC(1994, 10, 6, 8, 49, 30)

function retryAt(headers: Record<string, string>): number | null {
  const at = retryAtOf(new Headers(headers), NOW_MS)
  return at === null ? null : at - NOW_MS
}

test.for([
  ['Sun, 06 Nov 1994 08:49:37 GMT', 7000],
  ['Sunday, 06-Nov-94 08:49:37 GMT', 7000],
  ['Sun Nov  6 08:49:37 1994', 7000],
  ['Sun, 06 Nov 1994 08:49:29 GMT', null],
  ['Sun, 99 Nov 1994 08:49:37 GMT', null],
  ['1994-11-06T08:49:37Z', null],
] as const)('a date as "%s" is a wait of %s ms', ([text, waitMs]) => {
  expect(retryAt({ 'retry-after': text })).toBe(waitMs)
})

test('a date is held against the clock of the provider when that is behind ours', () => {
  const headers = { 'retry-after': 'Sun, 06 Nov 1994 08:49:37 GMT', date: 'Sun, 06 Nov 1994 08:48:30 GMT' }
  expect(retryAt(headers)).toBe(67_000)
})

test('a date is not reached earlier because the clock of the provider is ahead of ours', () => {
  const headers = { 'retry-after': 'Sun, 06 Nov 1994 08:59:37 GMT', date: 'Sun, 06 Nov 1994 08:59:30 GMT' }
  expect(retryAt(headers)).toBe(607_000)
})

test('a part of a millisecond is waited for as a whole one', () => {
  expect(retryAt({ 'retry-after-ms': '0.2' })).toBe(1)
  expect(retryAt({ 'retry-after': '1.0005' })).toBe(1001)
})

test('a wait beyond all dates is the last moment that a date can name', () => {
  const at = retryAtOf(new Headers({ 'retry-after-ms': '9'.repeat(60) }), NOW_MS)
  expect(new Date(at ?? 0).toISOString()).toBe('+275760-09-13T00:00:00.000Z')
})

test('a response that says nothing asks for nothing', () => {
  expect(retryAt({})).toBeNull()
})
