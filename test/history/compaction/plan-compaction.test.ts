import { expect, test } from 'vitest'

import { compactedItems } from '../../../src/history/compaction/compacted-items.ts'
import { itemTokens, planCompaction } from '../../../src/history/compaction/plan-compaction.ts'
import type { AnyItem } from '../../../src/protocol/items.ts'
import { call, developer, output, reasoning, round, said, SEALED, system, user } from './sample-items.ts'

/** How many items are in each part. */
function sizes(items: readonly AnyItem[], keepTokens = 0, keepItems = Infinity): readonly number[] | null {
  const plan = planCompaction(items, { keepTokens, keepItems })
  return plan === null ? null : [plan.lead.length, plan.old.length, plan.kept.length]
}

const work = [user('q'), ...round('c1'), ...round('c2'), ...round('c3'), ...round('c4')]

test('the three parts are the items themselves, in their order', () => {
  const plan = planCompaction(work, { keepTokens: 200 })
  expect([...(plan?.lead ?? []), ...(plan?.old ?? []), ...(plan?.kept ?? [])]).toEqual(work)
})

test('the first message of the user and the prompts before it are the lead', () => {
  expect(sizes([system('s'), developer('d'), ...work])).toEqual([3, 9, 3])
})

test('a later message of the user is not part of the lead', () => {
  expect(sizes([user('q'), user('r'), ...work.slice(1)])).toEqual([1, 10, 3])
})

test('items that begin with a response have no lead', () => {
  expect(sizes(work.slice(1))).toEqual([0, 9, 3])
})

test('as many of the newest groups stay as have room for their tokens', () => {
  const one = itemTokens(round('c4'))
  expect(sizes(work, 2 * one)).toEqual([1, 6, 6])
  expect(sizes(work, 2 * one - 1)).toEqual([1, 9, 3])
  expect(sizes(work, 3 * one)).toEqual([1, 3, 9])
})

test('as many of the newest groups stay as have room for their items', () => {
  expect(sizes(work, Infinity, 6)).toEqual([1, 6, 6])
  expect(sizes(work, Infinity, 5)).toEqual([1, 9, 3])
})

test('the newest group stays however long it is', () => {
  expect(sizes([...work, ...round('c5', 'x'.repeat(10_000))])).toEqual([1, 12, 3])
})

test('calls whose outputs nobody has answered stay, with the messages behind them', () => {
  expect(sizes([...work, user('and hurry'), system('note')])).toEqual([1, 9, 5])
})

test('calls that were answered do not stay for a message behind the answer', () => {
  expect(sizes([...work, said('done'), user('next')])).toEqual([1, 13, 1])
})

test('calls that have no output yet stay with their response', () => {
  expect(sizes([...work, reasoning(), call('c5'), call('c6'), output('c5')])).toEqual([1, 12, 4])
})

test('all that one response put out stays together with its outputs', () => {
  const response = [reasoning(), said('I look'), call('a'), call('b'), output('b'), output('a')]
  expect(sizes([user('q'), ...round('c1'), ...response], 60)).toEqual([1, 3, 6])
})

test('an output that comes late keeps all behind its call together', () => {
  const late = [user('q'), ...round('c0'), call('c1'), user('wait'), said('yes'), output('c1'), said('done')]
  expect(sizes(late)).toEqual([1, 7, 1])
  expect(sizes(late, 30)).toEqual([1, 7, 1])
  expect(sizes(late.slice(0, -1))).toEqual([1, 3, 4])
})

test('a call id that is used again does not tie its uses together', () => {
  const again = [user('q'), ...round('c1'), ...round('c1'), ...round('c1')]
  expect(sizes(again)).toEqual([1, 6, 3])
})

test('a call that came twice in one response does not wait for a second output', () => {
  const twice = [user('q'), call('c1'), call('c1'), output('c1'), ...round('c1'), ...round('c1')]
  expect(sizes(twice)).toEqual([1, 6, 3])
})

test('what a provider compacted is part of the lead, with all before it', () => {
  const items = [user('q'), user('r'), SEALED, ...work.slice(1)]
  expect(sizes(items)).toEqual([3, 9, 3])
})

test('what a provider compacted does not join the response behind it', () => {
  expect(sizes([SEALED, ...round('c1'), ...round('c2')])).toEqual([1, 3, 3])
})

test('a call is not parted from its output by what a provider compacted between them', () => {
  expect(sizes([call('c1'), SEALED, output('c1'), ...round('c2'), ...round('c3')])).toEqual([3, 3, 3])
  expect(sizes([call('c1'), SEALED, call('c1'), output('c1'), ...round('c2'), ...round('c3')])).toEqual([
    4, 3, 3,
  ])
})

test('an earlier summary is old, also where it comes first', () => {
  const plan = planCompaction(work, { keepTokens: 0 })
  const shorter = plan === null ? [] : compactedItems(plan, 'the summary')
  expect(sizes([...shorter, ...round('c5')])).toEqual([1, 4, 3])
  expect(sizes([...shorter.slice(1), ...round('c5')])).toEqual([0, 4, 3])
})

test.each<[string, readonly AnyItem[], number]>([
  ['there is nothing', [], 0],
  ['there is only a question', [user('q')], 0],
  ['all of it has room', work, Infinity],
  ['all but the lead is one group', [user('q'), ...round('c1')], 0],
  ['a summary would be longer', [user('q'), user('r'), said('s')], 0],
])('there is no plan when %s', (_, items, keepTokens) => {
  expect(planCompaction(items, { keepTokens })).toBeNull()
})

test('there is no plan when all that is old is a summary already', () => {
  const plan = planCompaction(work, { keepTokens: 0 })
  const shorter = plan === null ? [] : compactedItems(plan, 'long '.repeat(50))
  expect(shorter).toHaveLength(5)
  expect(planCompaction(shorter, { keepTokens: 0 })).toBeNull()
})

test.each([
  [{ keepTokens: -1 }, 'keepTokens must be a number of at least 0, not -1'],
  [{ keepTokens: Number.NaN }, 'keepTokens must be a number of at least 0, not NaN'],
  [{ keepTokens: 0, keepItems: -1 }, 'keepItems must be a number of at least 0, not -1'],
])('%j is refused', (options, fault) => {
  expect(() => planCompaction(work, options)).toThrow(
    expect.objectContaining({ code: 'usage', message: `compaction: ${fault}` }),
  )
})

test('tokens are those of the items as JSON, by the counter that is given', () => {
  const items = [user('q'), said('a')]
  const lengths = items.map((item) => JSON.stringify(item).length)
  expect(itemTokens(items, (text) => text.length)).toBe((lengths[0] ?? 0) + (lengths[1] ?? 0))
  expect(itemTokens([])).toBe(0)
})

function image(url: string): AnyItem {
  return { type: 'message', role: 'user', content: [{ type: 'input_image', image_url: url }] }
}

test('an image counts as a thousand tokens, whatever its bytes', () => {
  const tokens = itemTokens([image(`data:image/png;base64,${'A'.repeat(400_000)}`)])
  expect(tokens).toBeGreaterThan(1000)
  expect(tokens).toBeLessThan(1100)
  expect(itemTokens([image('https://example.com/a.png')])).toBeLessThan(100)
})
