import { getEventListeners } from 'node:events'

import { expect, test } from 'vitest'

import {
  insertToolHistory,
  summarizeToolHistory,
  ToolHistoryManager,
  type Summarize,
  type ToolCallEntry,
} from '../../../src/history/index.ts'
import type { InputItem } from '../../../src/protocol/items.ts'

const RULES = '[Earlier in this session:]\n- reads (1): a.ts\n\n[Errors encountered:]\n- shell: boom'

function managerWith(maxHistorySummaryTokens = 500): ToolHistoryManager {
  const manager = new ToolHistoryManager({ recentCallsToKeep: 1, maxHistorySummaryTokens })
  manager.addToolCall('a', 'read_file', { path: 'a.ts' }, 'text', false)
  manager.addToolCall('b', 'shell', { command: 'x' }, 'boom', true)
  manager.addToolCall('c', 'ls', {}, '', false)
  return manager
}

function summaryIn(manager: ToolHistoryManager): string | null {
  return manager.getCompactedHistory().summary
}

const live = new AbortController().signal

test('T15: the text of a model takes the place of the summary by rules, and the outcome says so', async () => {
  const manager = managerWith()
  const given: ToolCallEntry[][] = []
  const outcome = await manager.summarizeWith(async (entries) => {
    given.push([...entries])
    return ' Read a.ts. \n'
  }, live)
  expect(given).toEqual([
    [
      { callId: 'a', name: 'read_file', args: { path: 'a.ts' }, result: 'text', isError: false },
      { callId: 'b', name: 'shell', args: { command: 'x' }, result: 'boom', isError: true },
    ],
  ])
  const text = '[Earlier in this session:]\nRead a.ts.'
  expect(outcome).toEqual({ by: 'model', reason: 'model_answered', detail: null, text, callCount: 2 })
  expect(summaryIn(manager)).toBe(text)
  expect(JSON.stringify(manager.renderAsItems()[0])).toContain('Read a.ts.')
})

test('T15: the outcome is plain data', async () => {
  const outcome = await managerWith().summarizeWith(async () => 'ok', live)
  expect(JSON.parse(JSON.stringify(outcome))).toEqual(outcome)
})

test('T15: the text of a model is cut to the cap', async () => {
  const manager = managerWith(20)
  await manager.summarizeWith(async () => 'long '.repeat(100), live)
  const summary = summaryIn(manager) ?? ''
  expect(summary).toHaveLength(80)
  expect(summary).toMatch(/^\[Earlier in this session:\]\nlong .*\.\.\.$/su)
})

test.each<[string, string | null, Summarize]>([
  ['model_empty', null, async () => '  \n'],
  ['model_empty', null, async () => undefined as unknown as string],
  ['model_failed', 'overloaded', async () => Promise.reject(new Error('overloaded'))],
  [
    'model_failed',
    'at once',
    () => {
      throw new Error('at once')
    },
  ],
  // oxlint-disable-next-line prefer-promise-reject-errors
  ['model_failed', 'a text', async () => Promise.reject('a text')],
])('T15: after %s (%s) the summary by rules stands in', async (reason, detail, summarize) => {
  const manager = managerWith()
  const outcome = await manager.summarizeWith(summarize, live)
  expect(outcome).toEqual({ by: 'rules', reason, detail, text: RULES, callCount: 2 })
  expect(summaryIn(manager)).toBe(RULES)
})

test('T15: a cap without room for the words of a model leaves it to the rules', async () => {
  const outcome = await managerWith(7).summarizeWith(async () => 'words', live)
  expect(outcome).toMatchObject({ by: 'rules', reason: 'no_room', text: null })
})

test('T15: a model is not asked when no call is old', async () => {
  const manager = new ToolHistoryManager()
  const outcome = await manager.summarizeWith(async () => Promise.reject(new Error('asked')), live)
  expect(outcome).toEqual({ by: 'rules', reason: 'nothing_old', detail: null, text: null, callCount: 0 })
})

test('T15: an aborted signal ends the wait for a model that does not heed it', async () => {
  const controller = new AbortController()
  const summary = managerWith().summarizeWith(
    async () => new Promise<string>(() => undefined),
    controller.signal,
  )
  controller.abort()
  expect(await summary).toMatchObject({ by: 'rules', reason: 'aborted', text: RULES })
})

test('T15: with a signal that is aborted already the model is not asked', async () => {
  let isAsked = false
  const summarize: Summarize = async () => {
    isAsked = true
    return 'x'
  }
  expect(await managerWith().summarizeWith(summarize, AbortSignal.abort())).toMatchObject({
    reason: 'aborted',
  })
  expect(isAsked).toBe(false)
})

test('T15: nothing is left on the signal when the model has answered', async () => {
  const { signal } = new AbortController()
  await managerWith().summarizeWith(async () => 'done', signal)
  expect(getEventListeners(signal, 'abort')).toEqual([])
})

test('T15: the model gets the signal of the caller', async () => {
  const signals: AbortSignal[] = []
  await managerWith().summarizeWith(async (_, signal) => {
    signals.push(signal)
    return ''
  }, live)
  expect(signals).toEqual([live])
})

test('a summary by a model counts only for the calls that it is about', async () => {
  const manager = managerWith()
  await manager.summarizeWith(async () => 'from the model', live)
  manager.addToolCall('d', 'ls', {}, '', false)
  expect(summaryIn(manager)).not.toContain('from the model')
  expect(summaryIn(manager)).toContain('- reads (2)')
})

test('a history that was cleared while the model thought does not get its summary', async () => {
  const manager = managerWith()
  await manager.summarizeWith(async () => {
    manager.clear()
    for (const id of ['x', 'y', 'z']) manager.addToolCall(id, 'glob', {}, '', false)
    return 'from the model'
  }, live)
  expect(summaryIn(manager)).toBe('[Earlier in this session:]\n- searches (2)')
})

test('a cleared history forgets the summary by the model', async () => {
  const manager = managerWith()
  await manager.summarizeWith(async () => 'from the model', live)
  manager.clear()
  for (const id of ['x', 'y', 'z']) manager.addToolCall(id, 'glob', {}, '', false)
  expect(summaryIn(manager)).toBe('[Earlier in this session:]\n- searches (2)')
})

test('a recorded text that is given again makes the same summary', async () => {
  const first = await managerWith(20).summarizeWith(async () => 'long '.repeat(100), live)
  const again = await managerWith(20).summarizeWith(async () => first.text ?? '', live)
  expect(again).toEqual(first)
})

const items: readonly InputItem[] = ['a', 'b', 'c'].flatMap((id): InputItem[] => [
  { type: 'function_call', call_id: id, name: 'ls', arguments: '{}' },
  { type: 'function_call_output', call_id: id, output: id },
])

test('T15: the items of a conversation take a summary by a model too, as long as it is about its old calls', async () => {
  const config = { recentCallsToKeep: 1 }
  const summary = await summarizeToolHistory(items, {
    config,
    summarize: async () => 'from the model',
    signal: live,
  })
  expect(summary).toMatchObject({ by: 'model', callCount: 2 })
  expect(insertToolHistory(items, { config, summary }).summary).toBe(
    '[Earlier in this session:]\nfrom the model',
  )
  expect(insertToolHistory(items, { config: { recentCallsToKeep: 2 }, summary }).summary).toBe(
    '[Earlier in this session:]\n- reads (1)',
  )
  const tight = { ...config, maxHistorySummaryTokens: 9 }
  expect(insertToolHistory(items, { config: tight, summary }).summary).toBe(
    '[Earlier in this session:]\nfrom t...',
  )
})
