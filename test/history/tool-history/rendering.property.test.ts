import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import {
  estimateTokens,
  insertToolHistory,
  NativeStrategy,
  TextEmbedStrategy,
  ToolHistoryManager,
  type TokenCounter,
  type ToolCallEntry,
  type ToolHistoryOptions,
} from '../../../src/history/index.ts'
import type { InputItem } from '../../../src/protocol/items.ts'
import { expectSendable } from './expect-sendable.ts'

const odd = fc.constantFrom(
  'read_file',
  'shell',
  'apply_patch',
  'constructor',
  'a b',
  'x | id: y | args: {} -->',
  '<!-- prior-tool-result: a -->\n',
  '',
)
const word = fc.oneof(odd, fc.string({ unit: 'binary', maxLength: 80 }))
const args = fc.oneof(
  fc.anything({ maxDepth: 2 }),
  fc.record({ path: word }),
  fc.record({ command: word, patch: word }),
)

const entry: fc.Arbitrary<ToolCallEntry> = fc.record({
  callId: fc.oneof(fc.constantFrom('a', 'b', 'c'), word),
  name: word,
  args,
  result: fc.oneof(word, fc.string({ maxLength: 600 })),
  isError: fc.boolean(),
})

const bound = fc.oneof(fc.nat({ max: 12 }), fc.nat({ max: 600 }), fc.constant(Infinity))
const settings: fc.Arbitrary<ToolHistoryOptions> = fc.record(
  {
    recentCallsToKeep: fc.oneof(fc.nat({ max: 8 }), fc.constant(Infinity)),
    truncationThreshold: bound,
    maxHistorySummaryTokens: bound,
    preserveErrorsVerbatim: fc.boolean(),
    errorCharactersMax: bound,
    trigger: fc.constantFrom('count' as const, 'threshold' as const, 'either' as const),
    kinds: fc.dictionary(odd, fc.constantFrom('read', 'write', 'terminal', 'search', 'other')),
    readOnlyTools: fc.array(odd),
  },
  { requiredKeys: [] },
)
const strategy = fc.constantFrom(new NativeStrategy(), new TextEmbedStrategy())
// The last one is no honest tokenizer: a longer text can have fewer tokens.
const counter = fc.constantFrom(
  estimateTokens,
  (text: string) => text.length,
  (text: string) => (text.length * 7919) % 601,
)

function isWithinCap(
  summary: string | null,
  count: TokenCounter,
  { maxHistorySummaryTokens: tokensMax = 500 }: ToolHistoryOptions,
): boolean {
  return summary === null || count(summary) <= tokensMax
}

test('any history renders, by any settings and strategy, to valid items in order within the cap, twice the same', () => {
  fc.assert(
    fc.property(
      fc.array(entry, { maxLength: 14 }),
      settings,
      strategy,
      counter,
      (entries, config, how, count) => {
        const manager = new ToolHistoryManager(config, count)
        for (const one of entries)
          manager.addToolCall(one.callId, one.name, one.args, one.result, one.isError)
        const items = manager.renderAsItems(how)
        expectSendable(items)
        const { summary, truncatedCount, recentCalls, originalCount } = manager.getCompactedHistory()
        expect(isWithinCap(summary, count, config)).toBe(true)
        expect(truncatedCount + recentCalls.length).toBe(originalCount)
        expect(recentCalls.map(({ call }) => call?.result)).toEqual(
          entries.slice(truncatedCount).map(({ result }) => result),
        )
        expect(items).toEqual([
          ...(summary === null ? [] : how.renderSummary(summary)),
          ...recentCalls.flatMap((recent) => how.renderEntry(recent)),
        ])
        const again = new ToolHistoryManager(config, count)
        for (const one of entries) again.addToolCall(one.callId, one.name, one.args, one.result, one.isError)
        expect(JSON.stringify(again.renderAsItems(how))).toBe(JSON.stringify(items))
        expect(JSON.stringify(manager.renderAsItems(how))).toBe(JSON.stringify(items))
      },
    ),
    { numRuns: 1500 },
  )
})

test('texts of an entry are read back to the call that they were made from', () => {
  fc.assert(
    fc.property(entry, ({ callId, name, args, result, isError }) => {
      const manager = new ToolHistoryManager()
      manager.addToolCall(callId, name, args, result, isError)
      const [made] = manager.getCompactedHistory().recentCalls
      if (made === undefined) throw new Error('the entry is missing')
      const { callText, resultText } = made
      const native = new NativeStrategy()
      const [call, output] = native.renderEntry({ callText, resultText, isError })
      const [expectedCall, expectedOutput] = native.renderEntry(made)
      expect(output).toEqual(expectedOutput)
      expect(withParsedArguments(call)).toEqual(withParsedArguments(expectedCall))
    }),
    { numRuns: 1500 },
  )
})

function withParsedArguments(item: InputItem | undefined): unknown {
  return item?.type === 'function_call' ? { ...item, arguments: JSON.parse(item.arguments) as unknown } : item
}

const id = fc.constantFrom('a', 'b', 'c', 'd', 'e f', 'x --> y')
const item: fc.Arbitrary<InputItem> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant('function_call' as const),
      call_id: id,
      name: fc.constantFrom('ls', 'shell'),
      arguments: fc.constantFrom('{}', '{"path":"p"}', '{'),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant('function_call_output' as const),
      call_id: id,
      output: fc.constantFrom('', 'x', '{"ok":false}'),
    }),
  },
  fc.record({
    type: fc.constant('message' as const),
    role: fc.constantFrom('user' as const, 'assistant' as const),
    content: fc.string({ maxLength: 9 }),
  }),
  fc.record({ type: fc.constant('reasoning' as const), id: fc.uuid(), summary: fc.constant([]) }),
)

function isTold(one: InputItem): boolean {
  return one.type === 'message' && typeof one.content === 'string'
}

test('any items become valid ones in which every call has one output and messages keep their order', () => {
  fc.assert(
    fc.property(
      fc.array(item, { maxLength: 24 }),
      settings,
      strategy,
      counter,
      (items, config, how, tokenCounter) => {
        const options = { config, strategy: how, tokenCounter }
        const told = insertToolHistory(items, options)
        expectSendable(told.items)
        expect(told.items.filter(isTold)).toEqual(items.filter(isTold))
        expect(isWithinCap(told.summary, tokenCounter, config)).toBe(true)
        expect(told.originalCount).toBe(items.filter(({ type }) => type === 'function_call').length)
        expect(JSON.stringify(insertToolHistory(items, options))).toBe(JSON.stringify(told))
        const calls = told.items.filter(({ type }) => type === 'function_call').length
        expect(calls).toBe(how.name === 'native' ? told.originalCount - told.truncatedCount : 0)
      },
    ),
    { numRuns: 1500 },
  )
})

test('what was told of a conversation in native form is told the same when it is told again', () => {
  fc.assert(
    fc.property(fc.array(item, { maxLength: 24 }), (items) => {
      const options = { config: { recentCallsToKeep: Infinity }, strategy: new NativeStrategy() }
      const once = insertToolHistory(items, options).items
      const twice = insertToolHistory(once, options)
      expect(JSON.stringify(twice.items)).toBe(JSON.stringify(once))
      expect(twice.unpaired).toEqual([])
    }),
    { numRuns: 1000 },
  )
})
