import { expect, test } from 'vitest'

import {
  computeTruncation,
  ToolHistoryManager,
  type ToolCallEntry,
  type ToolHistoryOptions,
} from '../../../src/history/index.ts'

/** Calls of 10 tokens each. */
function entries(count: number): ToolCallEntry[] {
  return Array.from({ length: count }, (_, at) => ({
    callId: `call_${at}`,
    name: 'ls',
    args: {},
    result: 'x'.repeat(36),
    isError: false,
  }))
}

test('T19: nothing goes while there are not more tokens than the threshold', () => {
  expect(computeTruncation(entries(10), { truncationThreshold: 100 })).toEqual({
    shouldTruncate: false,
    summary: null,
    recentCallIds: new Set(entries(10).map(({ callId }) => callId)),
    truncatedCallIds: new Set(),
    tokensSaved: 0,
  })
})

test('T19: nothing goes while there are not more calls than are kept', () => {
  const { shouldTruncate } = computeTruncation(entries(6), { truncationThreshold: 1 })
  expect(shouldTruncate).toBe(false)
})

test('T19: with too many tokens and too many calls the oldest go', () => {
  expect(computeTruncation(entries(10), { truncationThreshold: 99 })).toEqual({
    shouldTruncate: true,
    summary: '[Earlier in this session:]\n- reads (4)',
    recentCallIds: new Set(['call_4', 'call_5', 'call_6', 'call_7', 'call_8', 'call_9']),
    truncatedCallIds: new Set(['call_0', 'call_1', 'call_2', 'call_3']),
    // 4 calls of 10 tokens, less the 38 characters of the summary.
    tokensSaved: 30,
  })
})

test('T19: a summary that is longer than what it replaces saves nothing, and not less', () => {
  const short = [{ callId: 'a', name: 'ls', args: undefined, result: '', isError: false }]
  const config = { truncationThreshold: 0, recentCallsToKeep: 0 }
  expect(computeTruncation(short, config)).toMatchObject({ shouldTruncate: true, tokensSaved: 0 })
})

test('T19: the threshold rule holds whatever trigger is set', () => {
  expect(computeTruncation(entries(10), { trigger: 'count' }).shouldTruncate).toBe(false)
})

test('T19: the tokenizer can be another one', () => {
  expect(computeTruncation(entries(10), {}, (text) => text.length * 100)).toMatchObject({
    shouldTruncate: true,
    summary: null,
    tokensSaved: 16_000,
  })
})

test('the manager and computeTruncation write the same summary', () => {
  const config = { truncationThreshold: 0 }
  expect(managerOf(10, config).getCompactedHistory().summary).toBe(
    computeTruncation(entries(10), config).summary,
  )
})

function managerOf(count: number, config: ToolHistoryOptions): ToolHistoryManager {
  const manager = new ToolHistoryManager(config)
  for (const { callId, name, args, result } of entries(count))
    manager.addToolCall(callId, name, args, result, false)
  return manager
}

test.each<[string, number, ToolHistoryOptions, number]>([
  ['count cuts by number alone', 8, { trigger: 'count' }, 2],
  ['count is the default', 8, {}, 2],
  ['count lets few but long calls be', 6, { trigger: 'count', truncationThreshold: 1 }, 0],
  ['threshold lets many short calls be', 8, { trigger: 'threshold', truncationThreshold: 80 }, 0],
  [
    'threshold cuts many calls that are too long together',
    8,
    { trigger: 'threshold', truncationThreshold: 79 },
    2,
  ],
  ['threshold lets few but long calls be', 6, { trigger: 'threshold', truncationThreshold: 1 }, 0],
  ['either cuts by number', 8, { trigger: 'either' }, 2],
  ['either cuts few but long calls to the threshold', 6, { trigger: 'either', truncationThreshold: 30 }, 3],
  ['either keeps what is exactly at the threshold', 6, { trigger: 'either', truncationThreshold: 60 }, 0],
  ['either keeps the newest call however long it is', 6, { trigger: 'either', truncationThreshold: 1 }, 5],
  ['either keeps nothing when nothing is to be kept', 6, { trigger: 'either', recentCallsToKeep: 0 }, 6],
])('K14: the trigger %s', (_, count, config, truncated) => {
  const history = managerOf(count, config).getCompactedHistory()
  expect(history.truncatedCount).toBe(truncated)
  expect(history.recentCalls).toHaveLength(count - truncated)
})
