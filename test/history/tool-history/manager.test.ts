import { expect, test } from 'vitest'

import {
  NativeStrategy,
  TOOL_HISTORY_DEFAULTS,
  ToolHistoryManager,
  type ToolHistoryOptions,
} from '../../../src/history/index.ts'
import { expectSendable } from './expect-sendable.ts'

function managerOf(count: number, config?: ToolHistoryOptions): ToolHistoryManager {
  const manager = new ToolHistoryManager(config)
  for (let at = 0; at < count; at += 1) {
    manager.addToolCall(`call_${at}`, 'read_file', { path: `f${at}.ts` }, `text ${at}`, false)
  }
  return manager
}

function idsIn(manager: ToolHistoryManager): readonly (string | undefined)[] {
  return manager.getCompactedHistory().recentCalls.map(({ call }) => call?.callId)
}

test('T2: the defaults are those of the RFC', () => {
  expect(TOOL_HISTORY_DEFAULTS).toEqual({
    recentCallsToKeep: 6,
    truncationThreshold: 10_000,
    maxHistorySummaryTokens: 500,
    preserveErrorsVerbatim: true,
    errorCharactersMax: 200,
    trigger: 'count',
    kinds: {},
    readOnlyTools: [],
  })
})

test('T1: settings that are not given, or undefined, are the defaults', () => {
  const options = {
    maxHistorySummaryTokens: 50,
    recentCallsToKeep: undefined,
  } as unknown as ToolHistoryOptions
  expect(managerOf(7, options).getCompactedHistory().truncatedCount).toBe(1)
})

test('T1: a manager without a logger renders', () => {
  expect(managerOf(1).renderAsItems()).toHaveLength(1)
})

test('T4: six calls stay as they are, without a summary', () => {
  const { summary, recentCalls, truncatedCount, originalCount } = managerOf(6).getCompactedHistory()
  expect({ summary, truncatedCount, originalCount }).toEqual({
    summary: null,
    truncatedCount: 0,
    originalCount: 6,
  })
  expect(recentCalls).toHaveLength(6)
})

test('T4: of eight calls the two oldest become a summary', () => {
  const { summary, recentCalls, truncatedCount, originalCount } = managerOf(8).getCompactedHistory()
  expect(summary).toBe('[Earlier in this session:]\n- reads (2): f0.ts, f1.ts')
  expect({ truncatedCount, originalCount }).toEqual({ truncatedCount: 2, originalCount: 8 })
  expect(recentCalls[0]?.resultText).toBe('<!-- prior-tool-result: call_2 -->\ntext 2')
  expect(recentCalls.at(-1)?.resultText).toBe('<!-- prior-tool-result: call_7 -->\ntext 7')
})

test('T4: an empty history has nothing to tell', () => {
  const manager = new ToolHistoryManager()
  expect(manager.getCompactedHistory()).toEqual({
    summary: null,
    recentCalls: [],
    truncatedCount: 0,
    originalCount: 0,
  })
  expect(manager.renderAsItems()).toEqual([])
})

test('T5, T6, T7: an entry has the text of the call and of the result between their markers', () => {
  const manager = new ToolHistoryManager()
  manager.addToolCall('call_1', 'read_file', { path: 'a.ts' }, 'export {}', true)
  expect(manager.getCompactedHistory().recentCalls).toMatchObject([
    {
      callText: '<!-- prior-tool: read_file | id: call_1 | args: {"path":"a.ts"} -->',
      resultText: '<!-- prior-tool-result: call_1 -->\nexport {}',
      isError: true,
    },
  ])
})

test('T3: a call without a word on errors went well', () => {
  const manager = new ToolHistoryManager()
  manager.addToolCall('call_1', 'read_file', {}, 'text')
  expect(manager.getCompactedHistory().recentCalls[0]?.isError).toBe(false)
})

test('T8: items are the summary and then the recent calls in their order, and the trace says how many', () => {
  const traces: string[] = []
  const logger = { trace: (message: string) => traces.push(message), warn: () => undefined }
  const manager = new ToolHistoryManager({ recentCallsToKeep: 2 }, undefined, logger)
  for (const id of ['a', 'b', 'c']) manager.addToolCall(id, 'shell', { command: `echo ${id}` }, id, false)
  expect(manager.renderAsItems().map((item) => 'content' in item && item.content)).toEqual([
    [{ type: 'input_text', text: '[Earlier in this session:]\n- commands (1): echo a' }],
    [{ type: 'input_text', text: 'Context (tool result):\nb' }],
    [{ type: 'input_text', text: 'Context (tool result):\nc' }],
  ])
  expect(traces).toEqual(['[ToolHistory] Rendered 3 items via text-embed strategy'])
})

test('T8: the strategy can be another one', () => {
  const items = managerOf(7).renderAsItems(new NativeStrategy())
  expect(items.map(({ type }) => type).slice(0, 3)).toEqual([
    'message',
    'function_call',
    'function_call_output',
  ])
  expect(items).toHaveLength(13)
  expectSendable(items)
})

test('T14: the setting maxToolHistoryLength is how many calls are kept, unless recentCallsToKeep says so', () => {
  expect(idsIn(managerOf(4, { maxToolHistoryLength: 2 }))).toEqual(['call_2', 'call_3'])
  expect(idsIn(managerOf(4, { maxToolHistoryLength: 2, recentCallsToKeep: 1 }))).toEqual(['call_3'])
})

test('keep 0 keeps nothing and counts every call as truncated', () => {
  const { summary, recentCalls, truncatedCount } = managerOf(4, {
    recentCallsToKeep: 0,
  }).getCompactedHistory()
  expect(recentCalls).toEqual([])
  expect(truncatedCount).toBe(4)
  expect(summary).toBe('[Earlier in this session:]\n- reads (4): f1.ts, f2.ts, f3.ts (+1 more)')
})

test('a bound of Infinity keeps everything', () => {
  expect(idsIn(managerOf(9, { recentCallsToKeep: Infinity }))).toHaveLength(9)
})

test.each<[unknown, string]>([
  [{ recentCallsToKeep: -1 }, 'recentCallsToKeep must be a whole number, 0 or more'],
  [{ recentCallsToKeep: 1.5 }, 'recentCallsToKeep must be a whole number, 0 or more'],
  [{ maxToolHistoryLength: '6' }, 'recentCallsToKeep must be a whole number, 0 or more'],
  [{ truncationThreshold: Number.NaN }, 'truncationThreshold must be a whole number, 0 or more'],
  [{ maxHistorySummaryTokens: null }, 'maxHistorySummaryTokens must be a whole number, 0 or more'],
  [{ errorCharactersMax: '200' }, 'errorCharactersMax must be a whole number, 0 or more'],
  [{ preserveErrorsVerbatim: 1 }, 'preserveErrorsVerbatim must be true or false'],
  [{ trigger: 'always' }, 'trigger must be count, threshold, either'],
  [
    { kinds: { a: 'reads' } },
    'kinds must be an object with read, write, terminal, search, other by the name of the tool',
  ],
  [
    { kinds: [] },
    'kinds must be an object with read, write, terminal, search, other by the name of the tool',
  ],
  [{ readOnlyTools: 'a' }, 'readOnlyTools must be a list of names'],
  [{ keep: 3 }, 'keep is not a setting'],
])('settings that mean nothing are refused: %j', (options, message) => {
  expect(() => new ToolHistoryManager(options as ToolHistoryOptions)).toThrow(
    expect.objectContaining({ code: 'usage', message: `tool history: ${message}` }),
  )
})

test('T15: the dead setting for a model is refused with a word on what to do', () => {
  const options = { toolHistorySummarizationModel: 'small' } as ToolHistoryOptions
  expect(() => new ToolHistoryManager(options)).toThrow(/give summarizeWith a function that asks the model/u)
})

test('T20: a call counts by its name, arguments and result together', () => {
  const manager = new ToolHistoryManager()
  manager.addToolCall('call_1', 'abc', { a: 1 }, 'xy', false)
  // abc{"a":1}xy: 12 characters.
  expect(manager.getTotalTokens()).toBe(3)
})

test('a tokenizer can be plugged in, and is asked once about each call', () => {
  const asked: string[] = []
  const manager = new ToolHistoryManager({}, (text) => asked.push(text))
  manager.addToolCall('call_1', 'abc', undefined, 'xy', false)
  manager.addToolCall('call_2', 'def', { b: 2 }, 'z', false)
  expect(manager.getTotalTokens()).toBe(3)
  expect(manager.getTotalTokens()).toBe(3)
  expect(asked).toEqual(['abc{}xy', 'def{"b":2}z'])
})

test('T21: a history should be truncated only when it has more tokens than the threshold', () => {
  const manager = new ToolHistoryManager({ truncationThreshold: 10 })
  manager.addToolCall('a', 'ab', {}, 'x'.repeat(36), false)
  expect(manager.getTotalTokens()).toBe(10)
  expect(manager.shouldTruncate()).toBe(false)
  manager.addToolCall('b', 'x', {}, '', false)
  expect(manager.shouldTruncate()).toBe(true)
})

test('T21: a cleared history is empty, and ids may be used again in it', () => {
  const manager = managerOf(8)
  expect(manager.getHistoryLength()).toBe(8)
  expect(manager.getTotalTokens()).toBeGreaterThan(0)
  manager.clear()
  expect(manager.getHistoryLength()).toBe(0)
  expect(manager.getTotalTokens()).toBe(0)
  manager.addToolCall('call_0', 'ls', {}, '', false)
  expect(manager.getTotalTokens()).toBe(1)
  expect(manager.renderAsItems(new NativeStrategy())[0]).toMatchObject({ call_id: 'call_0' })
})

test('undefined arguments, and some that JSON cannot carry, are told as none', () => {
  const cycle: Record<string, unknown> = {}
  cycle['self'] = cycle
  const manager = new ToolHistoryManager()
  for (const args of [undefined, cycle, { big: 1n }, () => 1]) {
    manager.addToolCall(`call_${manager.getHistoryLength()}`, 'ls', args, '', false)
  }
  const items = manager.renderAsItems(new NativeStrategy())
  expect(items.flatMap((item) => (item.type === 'function_call' ? [item.arguments] : []))).toEqual(
    Array.from({ length: 4 }, () => '{}'),
  )
  expectSendable(items)
})

test('what a caller does with its arguments afterwards changes nothing', () => {
  const args = { path: 'a.ts' }
  const manager = new ToolHistoryManager()
  manager.addToolCall('call_1', 'read_file', args, '', false)
  args.path = 'b.ts'
  expect(manager.renderAsItems(new NativeStrategy())[0]).toMatchObject({ arguments: '{"path":"a.ts"}' })
})

test('a call id that is used again is sent as another one, and what was sent before stays the same', () => {
  const manager = new ToolHistoryManager()
  manager.addToolCall('call_1', 'ls', {}, 'one', false)
  const before = manager.renderAsItems(new NativeStrategy())
  manager.addToolCall('call_1', 'ls', {}, 'two', false)
  const after = manager.renderAsItems(new NativeStrategy())
  expect(after.slice(0, 2)).toEqual(before)
  expect(after[2]).toMatchObject({ call_id: expect.stringMatching(/^call_[0-9a-f]{32}$/u) as string })
  expectSendable(after)
})
