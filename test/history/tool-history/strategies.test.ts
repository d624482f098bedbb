import { expect, test } from 'vitest'

import {
  NativeStrategy,
  TextEmbedStrategy,
  ToolHistoryManager,
  type FormattedToolEntry,
} from '../../../src/history/index.ts'
import { expectSendable } from './expect-sendable.ts'

const text = new TextEmbedStrategy()
const native = new NativeStrategy()

function entryOf(callId: string, name: string, args: unknown, result: string): FormattedToolEntry {
  const manager = new ToolHistoryManager()
  manager.addToolCall(callId, name, args, result, false)
  const [entry] = manager.getCompactedHistory().recentCalls
  if (entry === undefined) throw new Error('the entry is missing')
  return entry
}

function foreign(callText: string, resultText: string): FormattedToolEntry {
  return { callText, resultText, isError: false }
}

/** The entry as somebody has it who kept only its texts. */
function textsOf({ callText, resultText, isError }: FormattedToolEntry): FormattedToolEntry {
  return { callText, resultText, isError }
}

function context(result: string): object {
  return {
    type: 'message',
    role: 'user',
    content: [{ type: 'input_text', text: `Context (tool result):\n${result}` }],
  }
}

function native2(callId: string, name: string, args: string, output: string): readonly object[] {
  return [
    { type: 'function_call', call_id: callId, name, arguments: args },
    { type: 'function_call_output', call_id: callId, output },
  ]
}

test('T9: strategies have the names that logs and settings use', () => {
  expect([text.name, native.name]).toEqual(['text-embed', 'native'])
})

test('T10, T18: text-embed tells the result as a message of the user and leaves the call out', () => {
  const items = text.renderEntry(entryOf('call_1', 'read_file', { path: 'a.ts' }, 'line 1\nline 2'))
  expect(items).toEqual([context('line 1\nline 2')])
  expect(JSON.stringify(items)).not.toMatch(/read_file|call_1|prior-tool/u)
  expectSendable(items)
})

test('T10: an empty summary gives no item, another one a message of the user', () => {
  expect(text.renderSummary('')).toEqual([])
  expect(native.renderSummary('')).toEqual([])
  const message = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'so far' }] }
  expect(text.renderSummary('so far')).toEqual([message])
  expect(native.renderSummary('so far')).toEqual([message])
})

test.each([
  ['<!-- prior-tool-result: call_1 -->\nout', 'out'],
  ['<!-- prior-tool-result: call_1 -->out', 'out'],
  ['<!-- prior-tool-result: call_1 -->\n\nout', '\nout'],
  ['out', 'out'],
  ['', ''],
])('T10: text-embed takes the marker off a foreign result: %j', (resultText, shown) => {
  expect(text.renderEntry(foreign('', resultText))).toEqual([context(shown)])
})

test('a marker inside of a result is part of what the tool said', () => {
  const result = 'see <!-- prior-tool-result: x -->\nhere'
  expect(text.renderEntry(foreign('', result))).toEqual([context(result)])
  expect(text.renderEntry(entryOf('c', 'n', {}, '<!-- prior-tool-result: x -->\nhere'))).toEqual([
    context('<!-- prior-tool-result: x -->\nhere'),
  ])
})

test('T11: native tells the call and its output', () => {
  const items = native.renderEntry(entryOf('call_1', 'read_file', { path: 'a.ts' }, 'text'))
  expect(items).toEqual(native2('call_1', 'read_file', '{"path":"a.ts"}', 'text'))
  expectSendable(items)
})

test('an empty result is an output as well', () => {
  expect(native.renderEntry(entryOf('call_1', 'ls', {}, ''))).toEqual(native2('call_1', 'ls', '{}', ''))
})

test('T11: native reads a foreign entry from its markers', () => {
  const entry = foreign(
    '<!-- prior-tool: read_file | id: call_1 | args: {"path":"a | args: b"} -->',
    '<!-- prior-tool-result: call_1 -->\ntext',
  )
  expect(native.renderEntry(entry)).toEqual(native2('call_1', 'read_file', '{"path":"a | args: b"}', 'text'))
})

test('a foreign name or id with spaces is read when there is one way to read it', () => {
  const entry = foreign('<!-- prior-tool: my tool | id: call 1 | args: {} -->', 'text')
  expect(native.renderEntry(entry)).toEqual(native2('call 1', 'my_tool', '{}', 'text'))
})

test.each([
  ['no marker', 'called read_file'],
  ['text before the marker', 'x <!-- prior-tool: a | id: b | args: {} -->'],
  ['no end', '<!-- prior-tool: a | id: b | args: {}'],
  ['no id', '<!-- prior-tool: a | args: {} -->'],
  ['arguments that are not JSON', '<!-- prior-tool: a | id: b | args: {oops -->'],
  ['a name that holds a marker', '<!-- prior-tool: x | id: evil | args: {} | id: b | args: {"a":1} -->'],
  ['very many separators', `<!-- prior-tool: a | id: b${' | args: {}'.repeat(9)} -->`],
])('T11, T13: a foreign call text with %s is told as text', (_, callText) => {
  expect(native.renderEntry(foreign(callText, 'text'))).toEqual([context('text')])
})

test('T13: a foreign result that belongs to another call is told as text', () => {
  const entry = foreign('<!-- prior-tool: a | id: b | args: {} -->', '<!-- prior-tool-result: c -->\ntext')
  expect(native.renderEntry(entry)).toEqual([context('text')])
})

const ODD = [
  'my tool',
  'a|b',
  'a | id: evil | args: {}',
  'line\nbreak',
  'x --> y',
  '"quoted"',
  '',
  'x'.repeat(65),
]

test.each(ODD)('K16: a name like %j survives in the entry, and in its texts', (name) => {
  const entry = entryOf('call_1', name, { a: 1 }, 'text')
  expect(entry.call?.name).toBe(name)
  const [call] = native.renderEntry(entry)
  expect(call).toMatchObject({ type: 'function_call', call_id: 'call_1', arguments: '{"a":1}' })
  expect(native.renderEntry(textsOf(entry))).toEqual(native.renderEntry(entry))
  expectSendable(native.renderEntry(entry))
})

test.each(ODD)('K16: a call id like %j survives in the entry, and in its texts', (callId) => {
  const entry = entryOf(callId, 'ls', {}, 'text')
  expect(entry.call?.callId).toBe(callId)
  const [call, output] = native.renderEntry(entry)
  const isSendable = callId !== '' && callId.length <= 64
  const sent = call?.type === 'function_call' ? call.call_id : ''
  expect(isSendable ? sent === callId : /^call_[0-9a-f]{32}$/u.test(sent)).toBe(true)
  expect(output).toMatchObject({ call_id: sent, output: 'text' })
  expect(native.renderEntry(textsOf(entry))).toEqual(native.renderEntry(entry))
  expectSendable(native.renderEntry(entry))
})

test('arguments with the end of a comment do not end the marker, and keep their meaning', () => {
  const entry = entryOf('call_1', 'write_file', { text: 'a --> b' }, 'ok')
  expect(entry.callText.indexOf('-->')).toBe(entry.callText.length - 3)
  const [call] = native.renderEntry(textsOf(entry))
  expect(call?.type === 'function_call' && (JSON.parse(call.arguments) as unknown)).toEqual({
    text: 'a --> b',
  })
})

test('a name that the schema does not take has its odd characters replaced', () => {
  expect(native.renderEntry(entryOf('c', 'ü.b c', {}, ''))[0]).toMatchObject({ name: '__b_c' })
  expect(native.renderEntry(entryOf('c', '', {}, ''))[0]).toMatchObject({ name: 'unnamed' })
})

const TEXT_MAX = 10_485_760

test('a result over what the protocol takes is cut and says so', () => {
  const long = entryOf('call_1', 'ls', {}, 'x'.repeat(TEXT_MAX + 1))
  const summary = native.renderSummary('x'.repeat(TEXT_MAX + 1))
  for (const items of [text.renderEntry(long), native.renderEntry(long), summary]) {
    expect(JSON.stringify(items)).toMatch(/x\\n\[cut\]"/u)
    expectSendable(items)
  }
})

test('a result is never cut inside of a character, nor for having many code units', () => {
  const long = entryOf('call_1', 'ls', {}, `${'x'.repeat(TEXT_MAX - 7)}😀${'x'.repeat(9)}`)
  const [, output] = native.renderEntry(long)
  expect(output?.type === 'function_call_output' && output.output.slice(-8)).toBe('xx\n[cut]')
  const fitting = '😀'.repeat(TEXT_MAX / 2 + 1)
  const [, whole] = native.renderEntry(entryOf('call_1', 'ls', {}, fitting))
  expect(whole?.type === 'function_call_output' && whole.output === fitting).toBe(true)
})
