import { expect, test } from 'vitest'

import { insertToolHistory, NativeStrategy, type InsertOptions } from '../../../src/history/index.ts'
import type { InputItem } from '../../../src/protocol/items.ts'
import { expectSendable } from './expect-sendable.ts'

const native = new NativeStrategy()

function user(text: string): InputItem {
  return { type: 'message', role: 'user', content: text }
}

function assistant(text: string): InputItem {
  return { type: 'message', role: 'assistant', content: text }
}

function reasoning(id: string): InputItem {
  return { type: 'reasoning', id, summary: [], encrypted_content: 'x' }
}

function call(id: string, path = `${id}.ts`): InputItem {
  const args = JSON.stringify({ path })
  return { type: 'function_call', id: `fc_${id}`, call_id: id, name: 'read_file', arguments: args }
}

function output(id: string, text = `text of ${id}`): InputItem {
  return { type: 'function_call_output', id: `out_${id}`, call_id: id, output: text, status: 'completed' }
}

function insert(
  items: readonly InputItem[],
  keep: number,
  options: InsertOptions = {},
): readonly InputItem[] {
  const inserted = insertToolHistory(items, {
    ...options,
    config: { ...options.config, recentCallsToKeep: keep },
  })
  expectSendable(inserted.items)
  return inserted.items
}

/** One word for each item. */
function shape(items: readonly InputItem[]): readonly string[] {
  return items.map((item) => {
    switch (item.type) {
      case 'function_call':
        return `call ${item.call_id}`
      case 'function_call_output':
        return `output ${item.call_id}`
      case 'reasoning':
        return `reasoning ${item.id ?? ''}`
      case 'message':
        return typeof item.content === 'string'
          ? item.content
          : item.content.map((part) => ('text' in part ? part.text : part.type)).join('+')
      default:
        return 'other'
    }
  })
}

const conversation = [
  user('one'),
  call('a'),
  output('a'),
  assistant('read a'),
  user('two'),
  call('b'),
  call('c'),
  output('b'),
  output('c'),
  assistant('read b and c'),
  user('three'),
]

test('T17: recent calls stay where they were, byte for byte, in native form', () => {
  expect(JSON.stringify(insert(conversation, 6, { strategy: native }))).toBe(JSON.stringify(conversation))
})

test('T17: old calls give way to a summary in the place of the first of them', () => {
  expect(shape(insert(conversation, 1, { strategy: native }))).toEqual([
    'one',
    '[Earlier in this session:]\n- reads (2): a.ts, b.ts',
    'read a',
    'two',
    'call c',
    'output c',
    'read b and c',
    'three',
  ])
})

test('T17, T18: as text, results stand where the outputs were and no call is to be seen', () => {
  expect(shape(insert(conversation, 2))).toEqual([
    'one',
    '[Earlier in this session:]\n- reads (1): a.ts',
    'read a',
    'two',
    'Context (tool result):\ntext of b',
    'Context (tool result):\ntext of c',
    'read b and c',
    'three',
  ])
})

test('keep 0 leaves the summary and the words of people and models', () => {
  expect(shape(insert(conversation, 0, { strategy: native }))).toEqual([
    'one',
    '[Earlier in this session:]\n- reads (3): a.ts, b.ts, c.ts',
    'read a',
    'two',
    'read b and c',
    'three',
  ])
})

test('the figures say how much became a summary', () => {
  expect(insertToolHistory(conversation, { config: { recentCallsToKeep: 2 } })).toMatchObject({
    summary: '[Earlier in this session:]\n- reads (1): a.ts',
    truncatedCount: 1,
    originalCount: 3,
    unpaired: [],
  })
})

test('K14: the trigger and the tokenizer decide here as well', () => {
  const config = { recentCallsToKeep: 1, trigger: 'threshold', truncationThreshold: 30 } as const
  expect(insertToolHistory(conversation, { config, tokenCounter: () => 10 }).truncatedCount).toBe(0)
  expect(insertToolHistory(conversation, { config, tokenCounter: () => 11 }).truncatedCount).toBe(2)
})

test('a call without an output stays visible and is answered behind the outputs of its response', () => {
  const items = [call('a'), call('b'), output('b'), call('c'), output('c'), user('next')]
  const told = insert(items, 6, { strategy: native })
  expect(shape(told)).toEqual(['call a', 'call b', 'output b', 'output a', 'call c', 'output c', 'next'])
  expect(told[3]).toEqual({
    type: 'function_call_output',
    call_id: 'a',
    output: 'No output was recorded for this call of read_file.',
  })
})

test('a call without an output is answered before the next message, and at the end', () => {
  expect(shape(insert([call('a'), user('next')], 6, { strategy: native }))).toEqual([
    'call a',
    'output a',
    'next',
  ])
  expect(shape(insert([user('x'), call('a')], 6, { strategy: native }))).toEqual(['x', 'call a', 'output a'])
})

test('as text, a call without an output is told as such', () => {
  expect(shape(insert([call('a'), user('next')], 6))).toEqual([
    'Context (tool result):\nNo output was recorded for this call of read_file.',
    'next',
  ])
})

test('an old call without an output is told among the errors', () => {
  expect(shape(insert([call('a'), user('next')], 0))).toEqual([
    '[Earlier in this session:]\n\n[Errors encountered:]\n- read_file: No output was recorded for this call of read_file.',
    'next',
  ])
})

test('an output without its call becomes text where it was', () => {
  const items = [
    user('x'),
    output('ghost'),
    output('a'),
    call('a'),
    output('a', 'late'),
    output('a', 'second'),
  ]
  expect(shape(insert(items, 6, { strategy: native }))).toEqual([
    'x',
    'Context (tool result):\ntext of ghost',
    'Context (tool result):\ntext of a',
    'call a',
    'output a',
    'Context (tool result):\nsecond',
  ])
})

test('T12, T13: what has no other half is reported in order, and logged', () => {
  const warnings: string[] = []
  const traces: string[] = []
  const logger = { trace: (text: string) => traces.push(text), warn: (text: string) => warnings.push(text) }
  const { unpaired } = insertToolHistory([call('a'), user('x'), output('b"')], { logger })
  expect(unpaired).toEqual([
    { callId: 'a', missing: 'output' },
    { callId: 'b"', missing: 'call' },
  ])
  expect(warnings).toEqual([
    '[ToolHistory] No output for the call id "a"',
    String.raw`[ToolHistory] No call for the call id "b\""`,
  ])
  expect(traces).toEqual(['[ToolHistory] Rendered 3 items via text-embed strategy'])
})

test('calls that share an id keep their own outputs and are told apart', () => {
  const items = [call('a', '1'), output('a', 'one'), user('x'), call('a', '2'), output('a', 'two')]
  const told = insert(items, 6, { strategy: native })
  expect(told.slice(0, 3)).toEqual(items.slice(0, 3))
  const [again, answer] = told.slice(3)
  expect(again).toMatchObject({ arguments: '{"path":"2"}' })
  expect(answer).toMatchObject({ output: 'two' })
})

test('a call that came twice before any output is answered once by its output and once by the lack of one', () => {
  const told = insert([call('a'), call('a'), output('a')], 6, { strategy: native })
  expect(told.map((item) => item.type)).toEqual([
    'function_call',
    'function_call',
    'function_call_output',
    'function_call_output',
  ])
  expect(told[2]).toMatchObject({ call_id: 'a', output: 'text of a' })
})

test('reasoning goes with the call that it led to', () => {
  const items = [
    user('x'),
    reasoning('r1'),
    reasoning('r2'),
    call('a'),
    output('a'),
    reasoning('r3'),
    assistant('done'),
  ]
  expect(shape(insert(items, 0, { strategy: native }))).toEqual([
    'x',
    '[Earlier in this session:]\n- reads (1): a.ts',
    'reasoning r3',
    'done',
  ])
  expect(shape(insert(items, 6))).toEqual(['x', 'Context (tool result):\ntext of a', 'reasoning r3', 'done'])
  expect(insert(items, 6, { strategy: native })).toEqual(items)
})

test('calls of one stretch of reasoning stay together, so that more may be kept than were asked for', () => {
  const items = [call('a'), output('a'), reasoning('r'), call('b'), call('c'), output('b'), output('c')]
  expect(shape(insert(items, 1, { strategy: native }))).toEqual([
    '[Earlier in this session:]\n- reads (1): a.ts',
    'reasoning r',
    'call b',
    'call c',
    'output b',
    'output c',
  ])
  const without = items.filter(({ type }) => type !== 'reasoning')
  expect(insertToolHistory(without, { config: { recentCallsToKeep: 1 } }).truncatedCount).toBe(2)
})

test('a message of the user ends what one stretch of reasoning led to', () => {
  const items = [reasoning('r'), call('a'), user('x'), call('b'), output('b')]
  expect(insertToolHistory(items, { config: { recentCallsToKeep: 1 } }).truncatedCount).toBe(1)
})

test('K13: what belongs to the present turn stays native and does not count', () => {
  const told = insertToolHistory(conversation, { config: { recentCallsToKeep: 0 }, currentFrom: 4 })
  expect(told.originalCount).toBe(1)
  expect(shape(told.items)).toEqual([
    'one',
    '[Earlier in this session:]\n- reads (1): a.ts',
    'read a',
    'two',
    'call b',
    'call c',
    'output b',
    'output c',
    'read b and c',
    'three',
  ])
})

test('K13: a call whose output is in the present turn belongs to it', () => {
  const items = [call('a'), user('x'), output('a'), call('b'), output('ghost')]
  expect(insertToolHistory(items, { config: { recentCallsToKeep: 0 }, currentFrom: 2 })).toMatchObject({
    items,
    originalCount: 0,
    unpaired: [],
  })
})

test('an earlier call with the id of a present one is sent under another', () => {
  const items = [call('a'), output('a'), user('x'), call('a'), output('a')]
  const told = insert(items, 6, { strategy: native, currentFrom: 2 })
  expect(told.slice(2)).toEqual(items.slice(2))
  expect(told[0]).toMatchObject({ call_id: expect.stringMatching(/^call_[0-9a-f]{32}$/u) as string })
})

test('images and files of a result are kept in both forms, and a video is at least named', () => {
  const image = { type: 'input_image', image_url: 'data:image/png;base64,AA==' } as const
  const file = { type: 'input_file', filename: 'a.pdf', file_url: 'http://x/a.pdf' } as const
  const video = { type: 'input_video', video_url: 'http://x/v' } as const
  const nameless = { type: 'input_file', file_url: 'http://x/b' } as const
  const parts = [{ type: 'input_text', text: 'see' } as const, image, file, video, nameless]
  const items: readonly InputItem[] = [
    call('a'),
    { type: 'function_call_output', call_id: 'a', output: parts },
  ]
  expect(insert(items, 6, { strategy: native })).toEqual(items)
  const text = 'Context (tool result):\nsee\n[image]\n[file a.pdf]\n[video]\n[file]'
  expect(insert(items, 6)).toEqual([
    { type: 'message', role: 'user', content: [{ type: 'input_text', text }, image, file, nameless] },
  ])
})

test('K9: arguments that are not JSON are sent as none', () => {
  const broken: InputItem = { type: 'function_call', call_id: 'a', name: 'ls', arguments: '{"path":' }
  expect(insert([broken, output('a')], 6, { strategy: native })[0]).toEqual({ ...broken, arguments: '{}' })
})

test('a failed envelope is told among the errors, and another result when the caller says so', () => {
  const envelope = '{"tool":"shell","ok": false,"exit_code":1,"stdout":"","stderr":"no"}'
  const items = [
    call('a'),
    output('a', envelope),
    call('b'),
    output('b', 'not {"ok":false}'),
    call('c'),
    output('c', '{"ok":true,"stdout":"\\"ok\\":false","x":{"ok":false}}'),
  ]
  const config = { recentCallsToKeep: 0 }
  expect(insertToolHistory(items, { config }).summary).toBe(
    `[Earlier in this session:]\n- reads (2): b.ts, c.ts\n\n[Errors encountered:]\n- read_file: ${envelope}`,
  )
  expect(insertToolHistory(items, { config, isFailed: beginsWithNot }).summary).toMatch(
    /- read_file: not \{"ok":false\}$/u,
  )
})

function beginsWithNot(result: string): boolean {
  return result.startsWith('not')
}

test('items that are none of its business are the same objects as before', () => {
  const items = [
    user('x'),
    reasoning('r'),
    assistant('y'),
    { type: 'compaction', encrypted_content: 'z' } as const,
  ]
  const told = insert(items, 0)
  expect(told.every((item, at) => item === items[at])).toBe(true)
})

test('a conversation of ten thousand calls is told in time that grows with its length', () => {
  const items = Array.from({ length: 10_000 }, (_, at) => [
    user('x'),
    call(`c${at}`),
    output(`c${at}`),
  ]).flat()
  const sameId = Array.from({ length: 10_000 }, () => call('a')).concat(
    Array.from({ length: 10_000 }, () => output('a')),
  )
  const started = performance.now()
  expect(insertToolHistory(items, { config: { recentCallsToKeep: 16 } }).truncatedCount).toBe(9984)
  expect(insertToolHistory(sameId).unpaired).toEqual([])
  // Far above what it takes, and far below what a search for each call would.
  expect(performance.now() - started).toBeLessThan(2000)
})
