import { expect, test } from 'vitest'

import { compileContext, type CompileOptions } from '../../../src/history/context-bundle/compile-context.ts'
import type { ContextBundle } from '../../../src/history/context-bundle/context-bundle.ts'
import type { ConversationSource } from '../../../src/history/context-bundle/conversation-source.ts'
import {
  answer,
  call,
  conversation,
  developer,
  group,
  outputOf,
  PROVENANCE,
  summary,
  system,
  user,
  work,
  type EntryAt,
} from './sample-conversation.ts'

function compile(source: ConversationSource, fromSeq: number, options: Partial<CompileOptions> = {}) {
  return compileContext(source, { cut: { fromSeq }, strategy: 'auto', provenance: PROVENANCE, ...options })
}

/** The items in short: who said what, or which calls, or which summary. */
function told({ items }: ContextBundle): readonly string[] {
  return items.map((item) => {
    switch (item.type) {
      case 'message':
        return `${item.role}: ${item.content}`
      case 'summary_ref':
        return `summary: ${item.note}`
      case 'compaction':
        return `compaction: ${item.endpoint}`
      case 'tool_work':
        return `work: ${item.items.map((one) => ('call_id' in one ? one.call_id : 'r')).join(' ')}`
    }
  })
}

function turns(count: number): readonly EntryAt[] {
  return Array.from({ length: count }, (_, turn) => [user(`q${turn}`), answer(turn * 2, `a${turn}`)]).flat()
}

test('a bundle holds the messages of the user, each followed by the answer of its run', () => {
  const { bundle } = compile(conversation(...turns(2), user('q2')), 4)
  expect(bundle).toEqual({
    schema: 'rip.context_bundle.v1',
    compiler: { id: 'loopchart.context_compiler.v1', strategy: 'recent_messages_v1' },
    source: { thread_id: 'thread_1', from_seq: 4, from_message_id: null },
    provenance: PROVENANCE,
    items: [
      message(0, 'q0'),
      { type: 'message', role: 'assistant', content: 'a0', thread_seq: 1 },
      message(2, 'q1'),
      { type: 'message', role: 'assistant', content: 'a1', thread_seq: 3 },
      message(4, 'q2'),
    ],
  })
})

function message(seq: number, content: string) {
  const from = { actor_id: 'ada', origin: 'cli', thread_seq: seq, thread_event_id: `msg_${seq}` }
  return { type: 'message', role: 'user', content, ...from }
}

test('an answer follows its own message when a later message came before it', () => {
  const source = conversation(user('q0'), user('q1'), answer(0, 'a0'), answer(1, 'a1'))
  expect(told(compile(source, 3).bundle)).toEqual(['user: q0', 'assistant: a0', 'user: q1', 'assistant: a1'])
})

test('the message that the cut was made at is named in the source', () => {
  const { bundle, selection } = compile(conversation(user('q0')), 0, {
    cut: { fromSeq: 0, fromMessageId: 'msg_0' },
  })
  expect(bundle.source.from_message_id).toBe('msg_0')
  expect(selection).toMatchObject({ from_seq: 0, from_message_id: 'msg_0' })
})

test('only the last sixteen messages of the user are taken', () => {
  const items = told(compile(conversation(...turns(20)), 39).bundle)
  expect(items).toHaveLength(32)
  expect(items[0]).toBe('user: q4')
})

test('as many messages of the user are taken as were asked for', () => {
  expect(told(compile(conversation(...turns(20)), 39, { recent: 1 }).bundle)).toEqual([
    'user: q19',
    'assistant: a19',
  ])
})

test('a conversation without messages gives an empty bundle', () => {
  const { bundle, selection } = compile(conversation(answer(7, 'to nobody')), 0)
  expect(bundle.items).toEqual([])
  expect(selection).toMatchObject({ tokens: 0, left_out: [{ seq: 0, reason: 'question_not_selected' }] })
})

test('a conversation with nothing behind its summary gives the summary alone', () => {
  const source = conversation(user('q0'), summary(0, 'a question'))
  expect(told(compile(source, 1).bundle)).toEqual(['summary: covers entries 0 to 0'])
})

test('a cut before the first message gives what stands before it', () => {
  const source = conversation(system('be brief'), user('q0'), answer(1, 'a0'))
  expect(told(compile(source, 0).bundle)).toEqual(['system: be brief'])
})

test('a cut in the middle of a run gives its work and not its answer', () => {
  const source = conversation(user('q0'), work(0, group('c1')), work(0, group('c2')), answer(0, 'a0'))
  expect(told(compile(source, 1, { toolWork: 'include' }).bundle)).toEqual(['user: q0', 'work: r c1 c1'])
  expect(told(compile(source, 2).bundle)).toEqual(['user: q0'])
})

test('prompts stay with the message that they stand directly before, also at the edge of the window', () => {
  const source = conversation(
    user('q0'),
    answer(0, 'a0'),
    system('s1'),
    developer('d1'),
    user('q1'),
    developer('d2'),
    answer(4, 'a1'),
    system('s2'),
  )
  expect(told(compile(source, 7, { recent: 1 }).bundle)).toEqual([
    'system: s1',
    'developer: d1',
    'user: q1',
    'developer: d2',
    'assistant: a1',
    'system: s2',
  ])
})

test('several texts of one run are one answer', () => {
  const source = conversation(user('q0'), answer(0, 'one, '), work(0, group('c1')), answer(0, 'two'))
  expect(told(compile(source, 3).bundle)).toEqual(['user: q0', 'assistant: one, two'])
})

test('the last run that answered a message is the one whose answer is told', () => {
  const source = conversation(user('q0'), answer(0, 'old', 'run_a'), answer(0, 'new', 'run_b'))
  const { bundle, selection } = compile(source, 2)
  expect(told(bundle)).toEqual(['user: q0', 'assistant: new'])
  expect(selection.left_out).toEqual([{ seq: 1, type: 'answer', group: null, reason: 'answered_again' }])
})

test('an answer without text is not told', () => {
  expect(told(compile(conversation(user('q0'), answer(0, '')), 1).bundle)).toEqual(['user: q0'])
})

test('an answer to a message before the window is left out, and said to be', () => {
  const source = conversation(user('q0'), user('q1'), answer(0, 'a0'))
  const { bundle, selection } = compile(source, 2, { recent: 1 })
  expect(told(bundle)).toEqual(['user: q1'])
  expect(selection.left_out).toEqual([
    { seq: 2, type: 'answer', group: null, reason: 'question_not_selected' },
  ])
})

test('tool work is told in the wider form only, at its place and group by group', () => {
  const source = conversation(user('q0'), work(0, group('c1'), [call('c2'), outputOf('c2')]), answer(0, 'a0'))
  const wide = compile(source, 2, { toolWork: 'include' })
  expect(wide.bundle.schema).toBe('loopchart.context_bundle.v1')
  expect(told(wide.bundle)).toEqual(['user: q0', 'work: r c1 c1', 'work: c2 c2', 'assistant: a0'])
  expect(told(compile(source, 2).bundle)).toEqual(['user: q0', 'assistant: a0'])
})

test.each([
  ['a call without an output', [call('c1')]],
  ['an output without a call', [outputOf('c1')]],
  ['an output before its call', [outputOf('c1'), call('c1')]],
  ['a second output', [...group('c1'), outputOf('c1')]],
  ['a call id that is used twice', [...group('c1'), ...group('c1')]],
  ['reasoning at the end', [...group('c1'), { type: 'reasoning', summary: [] } as const]],
  [
    'reasoning between a call and its output',
    [call('c1'), { type: 'reasoning', summary: [] } as const, outputOf('c1')],
  ],
  ['a call id that the protocol does not take', group('c'.repeat(65))],
  ['nothing', []],
])('a group with %s is left out, and said to be', (_name, items) => {
  const source = conversation(user('q0'), work(0, group('c0'), items))
  const { bundle, selection } = compile(source, 1, { toolWork: 'include' })
  expect(told(bundle)).toEqual(['user: q0', 'work: r c0 c0'])
  expect(selection.left_out).toEqual([{ seq: 1, type: 'tool_work', group: 1, reason: 'group_not_whole' }])
})

test('a summary stands for what it covers, and the messages after it follow', () => {
  const source = conversation(...turns(2), summary(3, 'two turns'), user('q2'))
  const { bundle, selection } = compile(source, 5)
  expect(told(bundle)).toEqual(['summary: covers entries 0 to 3', 'user: q2'])
  expect(bundle.compiler.strategy).toBe('summaries_recent_messages_v1')
  expect(selection).toMatchObject({
    asked: 'auto',
    strategy: 'summaries_recent_messages_v1',
    reason: 'one_level',
  })
  expect(selection.checkpoints).toEqual([
    { seq: 4, artifact_id: source.checkpoints()[0]?.artifactId, from_seq: 0, to_seq: 3, compacted: false },
  ])
})

test('the messages after a summary are no more than were asked for', () => {
  const source = conversation(user('q'), summary(0, 'before'), user('q0'), user('q1'), user('q2'))
  expect(told(compile(source, 4, { recent: 2 }).bundle).slice(1)).toEqual(['user: q1', 'user: q2'])
})

test('an answer that a summary cut off from its message is told behind the summary', () => {
  const source = conversation(user('q0'), answer(0, 'a0'), summary(0, 'a question'), user('q1'))
  expect(told(compile(source, 3).bundle)).toEqual([
    'summary: covers entries 0 to 0',
    'assistant: a0',
    'user: q1',
  ])
})

test('a checkpoint behind the cut is ignored, also when what it covers is before the cut', () => {
  const source = conversation(...turns(2), summary(1, 'a turn'))
  const { bundle, selection } = compile(source, 3)
  expect(told(bundle)).toHaveLength(4)
  expect(selection).toMatchObject({
    strategy: 'recent_messages_v1',
    reason: 'no_checkpoint',
    checkpoints: [],
  })
})

test('levels are the newest checkpoint, then each time the newest of at most half as much, three at most', () => {
  const covered = [1, 3, 4, 7, 9, 17, 18]
  const source = conversation(
    ...turns(10),
    ...covered.map((toSeq) => summary(toSeq, `to ${toSeq}`)),
    user('q'),
  )
  const { bundle, selection } = compile(source, 27)
  expect(told(bundle)).toEqual([
    'summary: covers entries 0 to 4',
    'summary: covers entries 0 to 9',
    'summary: covers entries 0 to 18',
    'assistant: a9',
    'user: q',
  ])
  expect(selection).toMatchObject({
    strategy: 'hierarchical_summaries_recent_messages_v1',
    reason: 'several_levels',
  })
})

test('a checkpoint that covers one entry is not a level below itself', () => {
  const source = conversation(user('q0'), summary(0, 'one'), summary(0, 'same'), user('q1'))
  const { bundle, selection } = compile(source, 3)
  expect(told(bundle)).toEqual(['summary: covers entries 0 to 0', 'user: q1'])
  expect(selection.checkpoints[0]?.seq).toBe(2)
})

test.each([
  ['recent_messages_v1', [3, 1], 'recent_messages_v1', 'asked'],
  ['summaries_recent_messages_v1', [3, 1], 'summaries_recent_messages_v1', 'asked'],
  ['summaries_recent_messages_v1', [], 'recent_messages_v1', 'no_checkpoint'],
  ['hierarchical_summaries_recent_messages_v1', [3, 1], 'hierarchical_summaries_recent_messages_v1', 'asked'],
  ['hierarchical_summaries_recent_messages_v1', [3], 'summaries_recent_messages_v1', 'one_level'],
  ['hierarchical_summaries_recent_messages_v1', [], 'recent_messages_v1', 'no_checkpoint'],
] as const)('asked for %s with summaries up to %j, %s is used: %s', (asked, covered, strategy, reason) => {
  const source = conversation(...turns(2), ...covered.map((toSeq) => summary(toSeq, 'text')), user('q2'))
  const { selection, bundle } = compile(source, source.length - 1, { strategy: asked })
  expect(selection).toMatchObject({ asked, strategy, reason })
  expect(bundle.compiler.strategy).toBe(strategy)
})

test('the id is that of the content: another run gives the same, another message another one', () => {
  const source = conversation(...turns(2))
  const { id } = compile(source, 3)
  expect(id).toMatch(/^[0-9a-f]{64}$/)
  expect(compile(source, 3, { provenance: { ...PROVENANCE, run_session_id: 'run_2' } }).id).toBe(id)
  expect(compile(conversation(user('q0'), answer(0, 'a0'), user('q1'), answer(2, 'A1')), 3).id).not.toBe(id)
  expect(compile(source, 2).id).not.toBe(id)
})

test('the id of a known conversation never changes', () => {
  expect(compile(conversation(...turns(2)), 3).id).toBe(
    'd31e63ad77ed495ff25b5bed75bb3fc946939fd074a286ffed80c7fbc904f8f4',
  )
})

test('a long conversation is read only where it is selected', () => {
  const source = conversation(...turns(10_000))
  compile(source, source.length - 1)
  expect(source.reads).toHaveLength(33)
})

test.each([-1, 2, 0.5, Number.NaN])('a cut at %d of two entries is refused', (fromSeq) => {
  expect(() => compile(conversation(...turns(1)), fromSeq)).toThrow(
    expect.objectContaining({ code: 'usage', message: `the cut ${fromSeq} is not one of the 2 entries` }),
  )
})

test.each([{ recent: 0 }, { recent: 1.5 }, { budgetTokens: -1 }, { budgetTokens: Number.NaN }])(
  'the options %j are refused',
  (options) => {
    expect(() => compile(conversation(user('q0')), 0, options)).toThrow(
      expect.objectContaining({ code: 'usage', message: expect.stringContaining('at least') }),
    )
  },
)
