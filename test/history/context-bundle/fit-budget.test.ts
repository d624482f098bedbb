import { expect, test } from 'vitest'

import { compileContext } from '../../../src/history/context-bundle/compile-context.ts'
import type { ConversationSource } from '../../../src/history/context-bundle/conversation-source.ts'
import {
  answer,
  conversation,
  group,
  PROVENANCE,
  summary,
  system,
  user,
  work,
} from './sample-conversation.ts'

/** Every item is one token, so that a budget is a number of items. */
function fit(source: ConversationSource, budgetTokens: number) {
  const { bundle, selection } = compileContext(source, {
    cut: { fromSeq: source.length - 1 },
    strategy: 'auto',
    provenance: PROVENANCE,
    toolWork: 'include',
    budgetTokens,
    countTokens: () => 1,
  })
  const kept = bundle.items.map((item) => ('artifact_id' in item ? 'summary' : item.thread_seq))
  return { kept, selection }
}

const source = conversation(
  user('q0'),
  answer(0, 'a0'),
  summary(1, 'a turn'),
  user('q1'),
  answer(3, 'a1'),
  system('s2'),
  user('q2'),
  work(6, group('c1'), group('c2')),
  answer(6, 'a2'),
)

test('a context within its budget is whole', () => {
  const { kept, selection } = fit(source, 8)
  expect(kept).toEqual(['summary', 3, 4, 5, 6, 7, 7, 8])
  expect(selection).toMatchObject({ left_out: [], tokens: 8, budget_tokens: 8 })
})

test('the oldest turn goes first, and whole', () => {
  const { kept, selection } = fit(source, 7)
  expect(kept).toEqual(['summary', 5, 6, 7, 7, 8])
  expect(selection.tokens).toBe(6)
  expect(selection.left_out).toEqual([
    { seq: 3, type: 'message', group: null, reason: 'budget' },
    { seq: 4, type: 'answer', group: null, reason: 'budget' },
  ])
})

test('of several old turns only as many go as must', () => {
  expect(fit(conversation(user('q0'), user('q1'), user('q2'), user('q3')), 3).kept).toEqual([1, 2, 3])
})

test('of the newest turn tool work goes first, group by group', () => {
  const { kept, selection } = fit(source, 5)
  expect(kept).toEqual(['summary', 5, 6, 7, 8])
  expect(selection.left_out.at(-1)).toEqual({ seq: 7, type: 'tool_work', group: 0, reason: 'budget' })
})

test('summaries go before what was said in the newest turn', () => {
  const { kept, selection } = fit(source, 3)
  expect(kept).toEqual([5, 6, 8])
  expect(selection.left_out.at(-1)).toEqual({ seq: 2, type: 'checkpoint', group: null, reason: 'budget' })
  expect(selection.checkpoints).toHaveLength(1)
})

test('the newest message of the user stays whatever the budget is', () => {
  const { kept, selection } = fit(source, 0)
  expect(kept).toEqual([6])
  expect(selection.tokens).toBe(1)
})

test('what has no message of the user goes like any other turn', () => {
  expect(fit(conversation(system('s0'), system('s1')), 1).kept).toEqual([1])
})

test('tokens are estimated from what will be sent, the text of a summary too', () => {
  const { selection } = compileContext(
    conversation(user('x'.repeat(40)), summary(0, 'y'.repeat(400)), user('z')),
    {
      cut: { fromSeq: 2 },
      strategy: 'auto',
      provenance: PROVENANCE,
    },
  )
  // The heading and the note are 36 and 22 characters, each with a line end.
  expect(selection.tokens).toBe(Math.ceil((37 + 23 + 400) / 4) + 1)
})

test('tool work counts with all that it holds', () => {
  const { selection } = compileContext(conversation(user('q'), work(0, group('c1', 'y'.repeat(4000)))), {
    cut: { fromSeq: 1 },
    strategy: 'auto',
    provenance: PROVENANCE,
    toolWork: 'include',
  })
  expect(selection.tokens).toBeGreaterThan(1000)
})
