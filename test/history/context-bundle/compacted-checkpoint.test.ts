import { expect, test } from 'vitest'

import { compileContext, type CompileOptions } from '../../../src/history/context-bundle/compile-context.ts'
import type { ConversationSource } from '../../../src/history/context-bundle/conversation-source.ts'
import { makeCheckpoint } from '../../../src/history/context-bundle/make-checkpoint.ts'
import { renderBundle, type RenderOptions } from '../../../src/history/context-bundle/render-bundle.ts'
import type { InputItem } from '../../../src/protocol/items.ts'
import {
  answer,
  compaction,
  conversation,
  group,
  PROVENANCE,
  summary,
  user,
  work,
  type EntryAt,
} from './sample-conversation.ts'

const HERE = 'https://here.example/v1'
const THERE = 'https://there.example/v1'

const native: RenderOptions = { summaries: (id) => `summary ${id}`, toolWork: 'native' }

function compile(source: ConversationSource, options: Partial<CompileOptions> = {}) {
  return compileContext(source, {
    cut: { fromSeq: source.length - 1 },
    strategy: 'auto',
    provenance: PROVENANCE,
    toolWork: 'include',
    endpoint: HERE,
    ...options,
  })
}

/** Two turns, a summary of the first, one of both that was also compacted here, and a question. */
const source = conversation(
  user('q0'),
  answer(0, 'a0'),
  summary(0, 'one turn'),
  user('q3'),
  answer(3, 'a3'),
  compaction(4, 'two turns', HERE),
  user('q6'),
)

test('what the endpoint compacted stands in the place of all summaries', () => {
  const { bundle, selection } = compile(source)
  const [, newest] = source.checkpoints()
  expect(bundle.items.map(({ type }) => type)).toEqual(['compaction', 'message'])
  expect(bundle.items[0]).toEqual({
    type: 'compaction',
    artifact_id: newest?.artifactId,
    endpoint: HERE,
    items: newest?.compacted?.items,
  })
  expect(selection.checkpoints.map(({ seq, compacted }) => [seq, compacted])).toEqual([
    [2, false],
    [5, true],
  ])
})

test('what the endpoint compacted is rendered as it is, before what came since', () => {
  const { bundle } = compile(source)
  expect(renderBundle(bundle, native)).toEqual([
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'q' }] },
    { type: 'compaction', id: 'cmp_4', encrypted_content: 'sealed two turns' },
    { type: 'message', role: 'user', content: 'q6' },
  ])
})

test.each<[string, Partial<CompileOptions>]>([
  ['another endpoint is asked', { endpoint: THERE }],
  ['nobody says which endpoint is asked', { endpoint: undefined as unknown as string }],
  ['tool work is left out, since that form has no place for it', { toolWork: 'omit' }],
])('there are summaries when %s', (_, options) => {
  const { bundle, selection } = compile(source, options)
  expect(bundle.items.map(({ type }) => type)).toEqual(['summary_ref', 'summary_ref', 'message'])
  expect(selection.checkpoints.map(({ compacted }) => compacted)).toEqual([false, false])
})

test('what an endpoint compacted does not stand for a newer summary', () => {
  const newer: readonly EntryAt[] = [answer(6, 'a6'), summary(7, 'all of it'), user('q9')]
  const longer = conversation(...Array.from({ length: 7 }, (_, seq) => () => source.entry(seq)), ...newer)
  const { bundle, selection } = compile(longer)
  expect(bundle.items.some(({ type }) => type === 'compaction')).toBe(false)
  expect(selection.checkpoints.some(({ compacted }) => compacted)).toBe(false)
})

test('a strategy without summaries has nothing that was compacted', () => {
  const { bundle } = compile(source, { strategy: 'recent_messages_v1' })
  expect(bundle.items.every(({ type }) => type === 'message')).toBe(true)
})

test.each<[string, readonly InputItem[]]>([
  ['no items', []],
  ['an item that no request takes', [{ type: 'compaction' } as unknown as InputItem]],
])('%s are not told; the summary is', (_, items) => {
  const broken = conversation(
    user('q0'),
    (seq) => makeCheckpoint({ seq, fromSeq: 0, toSeq: 0, text: 't', compacted: { endpoint: HERE, items } }),
    user('q2'),
  )
  const { bundle, selection } = compile(broken)
  expect(bundle.items.map(({ type }) => type)).toEqual(['summary_ref', 'message'])
  expect(selection.checkpoints.map(({ compacted }) => compacted)).toEqual([false])
})

test('what was compacted counts for the budget and can be left out by it', () => {
  const whole = compile(source).selection.tokens
  expect(whole).toBeGreaterThan(30)
  const { bundle, selection } = compile(source, { budgetTokens: 5 })
  expect(bundle.items.map(({ type }) => type)).toEqual(['message'])
  expect(selection.left_out).toEqual([{ seq: 5, type: 'checkpoint', group: null, reason: 'budget' }])
})

test('a call in what was compacted keeps its id, and a later one of that id gets another', () => {
  const items = [...group('c1')]
  const twice = conversation(
    user('q0'),
    (seq) => makeCheckpoint({ seq, fromSeq: 0, toSeq: 0, text: 't', compacted: { endpoint: HERE, items } }),
    user('q2'),
    work(2, group('c1')),
  )
  const rendered = renderBundle(compile(twice).bundle, native)
  expect(rendered.slice(0, 3)).toEqual(items)
  const ids = rendered.flatMap((item) => ('call_id' in item ? [item.call_id] : []))
  expect(ids.slice(0, 2)).toEqual(['c1', 'c1'])
  expect(ids[2]).toMatch(/^call_[0-9a-f]{32}$/)
})
