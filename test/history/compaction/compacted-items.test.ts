import { expect, test } from 'vitest'

import { compactedItems } from '../../../src/history/compaction/compacted-items.ts'
import { itemTokens, planCompaction } from '../../../src/history/compaction/plan-compaction.ts'
import type { AnyItem } from '../../../src/protocol/items.ts'
import { developer, round, system, user } from './sample-items.ts'

const plan = { lead: [user('q')], old: [...round('c1'), ...round('c2')], standing: [], kept: round('c3') }

test('one message of the system stands between the lead and what is kept', () => {
  expect(compactedItems(plan, 'two files were read')).toEqual([
    user('q'),
    {
      type: 'message',
      role: 'system',
      content: 'Summary of the earlier conversation:\ntwo files were read',
    },
    ...round('c3'),
  ])
})

/** What stands behind the first message and the summary, when all but the last round gives way. */
function standingAfter(old: readonly AnyItem[]): readonly AnyItem[] {
  const made = planCompaction([user('q'), ...old, ...round('last')], { keepTokens: 0 })
  if (made === null) throw new Error('nothing gives way')
  return compactedItems(made, 'much was done').slice(2, -3)
}

test('the newest message of the user stays as it is, behind the summary, when it gives way', () => {
  const old = [...round('c1'), user('first this'), ...round('c2'), user('now that'), ...round('c3')]
  expect(standingAfter(old)).toEqual([user('now that')])
})

test('a message that is most of what gives way is not cut', () => {
  const task = user('x'.repeat(10_000))
  expect(standingAfter([task, ...round('c1')])).toEqual([task])
})

test('what the loop itself said is not taken for the task', () => {
  const own = { ...user('go on'), by: 'loop' }
  expect(standingAfter([...round('c1'), user('the task'), ...round('c2'), own])).toEqual([user('the task')])
})

test('neither a result nor a summary that was told as text is taken for the task', () => {
  const told = [user('Context (tool result):\nx'), user('[Earlier in this session:]\n- reads (2): a')]
  expect(standingAfter([user('the task'), ...round('c1'), ...told])).toEqual([user('the task')])
})

test('prompts that came in between stay with the task, in their order, and summaries do not', () => {
  const summary = system('Summary of the earlier conversation:\nit went well')
  const old = [
    system('a'),
    ...round('c1'),
    summary,
    developer('b'),
    user('task'),
    ...round('c2'),
    system('c'),
  ]
  expect(standingAfter(old)).toEqual([system('a'), developer('b'), user('task'), system('c')])
})

test('a summary that is longer than what it stands for is cut until it is shorter', () => {
  const items = compactedItems(plan, 'word '.repeat(1000))
  expect(items).toHaveLength(5)
  expect(JSON.stringify(items[1])).toMatch(/word word.*\.\.\."}$/)
  const before = itemTokens([...plan.lead, ...plan.old, ...plan.kept])
  expect(itemTokens(items)).toBe(before - 1)
})

function byCharacter(text: string): number {
  return text.length
}

test('a summary is cut by the counter that is given', () => {
  const items = compactedItems(plan, 'word '.repeat(1000), byCharacter)
  const before = itemTokens([...plan.lead, ...plan.old, ...plan.kept], byCharacter)
  expect(itemTokens(items, byCharacter)).toBe(before - 1)
})
