import { expect, test } from 'vitest'

import { agoText } from '../../src/inspect/page/ago-text.ts'
import { parseRunPage, type RunRow } from '../../src/inspect/page/answers.ts'
import { backOffMs } from '../../src/inspect/page/back-off.ts'
import { offsetText } from '../../src/inspect/page/offset-text.ts'
import { NO_FILTER, queryOf, withFresh, withOlder } from '../../src/inspect/page/run-filter.ts'

function row(runId: string, startedAt: number): RunRow {
  const { runs } = parseRunPage({ runs: [{ run_id: runId, started_at: startedAt, frames: 1, needs: null }] })
  const [first] = runs
  if (first === undefined) throw new Error('one row gives one row')
  return first
}

function ids(rows: readonly RunRow[]): readonly string[] {
  return rows.map(({ runId }) => runId)
}

test('what is not filtered by is not asked for', () => {
  expect(queryOf(NO_FILTER)).toEqual({ limit: 100 })
  expect(queryOf({ text: 'a', state: 'done', status: 'ended', needsPerson: true })).toEqual({
    limit: 100,
    q: 'a',
    state: 'done',
    status: 'ended',
    needs: 'any',
  })
})

test('a newer first page brings new runs and keeps the pages behind it', () => {
  const known = { rows: [row('d', 4), row('c', 3), row('b', 2), row('a', 1)], next: null }
  const fresh = withFresh(known, { runs: [row('e', 5), row('d', 4)], next: 'more' })
  expect(ids(fresh.rows)).toEqual(['e', 'd', 'c', 'b', 'a'])
  expect(fresh.next).toBeNull()
})

test('a run that has left the filter leaves the list', () => {
  const known = { rows: [row('c', 3), row('b', 2), row('a', 1)], next: 'x' }
  expect(ids(withFresh(known, { runs: [row('c', 3), row('a', 1)], next: null }).rows)).toEqual(['c', 'a'])
  expect(withFresh(known, { runs: [], next: null })).toEqual({ rows: [], next: null })
})

test('a run that is as new as the first page and no longer on it leaves the list', () => {
  const known = { rows: [row('c', 3), row('b', 2), row('a', 1)], next: null }
  expect(ids(withFresh(known, { runs: [row('d', 4), row('b', 2)], next: 'n' }).rows)).toEqual(['d', 'b', 'a'])
})

test('a list that fits on its first page takes over where the next one is', () => {
  const known = { rows: [row('b', 2)], next: null }
  expect(withFresh(known, { runs: [row('c', 3), row('b', 2)], next: 'n' }).next).toBe('n')
})

test('times of a list may be numbers or texts', () => {
  const { runs } = parseRunPage({
    runs: [{ started_at: 5, updated_at: '1970-01-01T00:00:01Z' }, { started_at: 'never' }, null],
  })
  expect(runs.map(({ startedAt, updatedAt }) => [startedAt, updatedAt])).toEqual([
    [5, 1000],
    [0, 0],
    [0, 0],
  ])
})

test.each([
  [0, 'now'],
  [59_000, '59 s ago'],
  [3_599_000, '59 min ago'],
  [7_200_000, '2 h ago'],
  [172_800_000, '2 d ago'],
  [-5000, 'now'],
])('%i milliseconds are %s', (ms, text) => {
  expect(agoText(1e12 - ms, 1e12)).toBe(text)
})

test.each([
  [0, '+0.000'],
  [9999, '+9.999'],
  [12_345, '+12.35'],
  [61_000, '+01:01'],
  [3_661_000, '+1:01:01'],
  [-1, '+0.000'],
])('%i milliseconds after the start are %s', (ms, text) => {
  expect(offsetText(ms)).toBe(text)
})

test('a pause is at least half of what it may be, and never more', () => {
  expect([backOffMs(1, 0), backOffMs(1, 1)]).toEqual([250, 500])
  expect([backOffMs(50, 0), backOffMs(50, 1)]).toEqual([7500, 15_000])
})

test('a page of older runs is put in once, and not into another list than it was asked for', () => {
  const known = { rows: [row('c', 3), row('b', 2)], next: 'n1' }
  const page = { runs: [row('b', 2), row('a', 1)], next: null }
  const all = withOlder(known, 'n1', page)
  expect(ids(all.rows)).toEqual(['c', 'b', 'a'])
  expect(withOlder(all, 'n1', page)).toBe(all)
  expect(withOlder({ rows: [row('x', 9)], next: 'n2' }, 'n1', page).rows).toHaveLength(1)
})
