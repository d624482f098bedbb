import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import { compactedItems } from '../../../src/history/compaction/compacted-items.ts'
import {
  itemTokens,
  planCompaction,
  type CompactionPlan,
} from '../../../src/history/compaction/plan-compaction.ts'
import { summarizeItems } from '../../../src/history/compaction/summarize-items.ts'
import { summaryQuestion } from '../../../src/history/compaction/summary-question.ts'
import { estimateTokens } from '../../../src/history/tool-history/estimate-tokens.ts'
import { inputItems } from '../../../src/loop/input-items.ts'
import { pairCalls } from '../../../src/loop/pair-calls.ts'
import type { AnyItem } from '../../../src/protocol/items.ts'
import { call, developer, notRun, output, reasoning, said, SEALED, system, user } from './sample-items.ts'

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.constantFrom(
    '',
    '{"ok":false,"error":"no"}',
    'Summary of the earlier conversation:\nit went well\n\n[Errors encountered:]\n- shell: no',
    '[Errors encountered:]\n- (+2 earlier)',
    '[Earlier in this session:]\n- reads (2): a',
    'Context (tool result):\nx',
  ),
)
const id = fc.constantFrom('c1', 'c2', 'c3')

/** In any order, as no provider would send them. */
const loose: fc.Arbitrary<AnyItem> = fc.oneof(
  text.map(user),
  text.map((one) => ({ ...user(one), by: 'loop' })),
  text.map(system),
  text.map(developer),
  text.map(said),
  fc.constant(reasoning()),
  id.map((callId) => call(callId)),
  fc.tuple(id, text).map(([callId, one]) => output(callId, one)),
  id.map((callId) => notRun(callId, 'denied')),
  fc.constant({ type: 'web_search_call', id: 'ws_1', status: 'failed' }),
  fc.constant(SEALED),
)

/** Whole responses, whose ids come again and whose outputs are in any order. */
const response = fc
  .record({
    ids: fc.shuffledSubarray(['c1', 'c2', 'c3']),
    isReasoned: fc.boolean(),
    said: fc.option(text),
    text,
  })
  .map(({ ids, isReasoned, said: words, text: result }): readonly AnyItem[] => [
    ...(isReasoned ? [reasoning()] : []),
    ...(words === null && ids.length > 0 ? [] : [said(words ?? '')]),
    ...ids.map((callId) => call(callId)),
    ...ids.toReversed().map((callId) => output(callId, result)),
  ])

const items = fc
  .array(
    fc.oneof(
      response,
      text.map((one) => [user(one)]),
      loose.map((one) => [one]),
    ),
    { maxLength: 20 },
  )
  .map((parts) => parts.flat())

// The last one is no honest tokenizer: a longer text can have fewer tokens.
const counter = fc.constantFrom(
  estimateTokens,
  (one: string) => one.length,
  (one: string) => (one.length * 7919) % 601,
)

const options = fc.record(
  {
    keepTokens: fc.oneof(fc.constant(0), fc.nat(400)),
    keepItems: fc.nat(12),
    countTokens: counter,
  },
  { requiredKeys: ['keepTokens'] },
)

/** Calls a function for any plan, and fails if hardly any items had one. */
function forAnyPlan(check: (plan: CompactionPlan, all: readonly AnyItem[], options: Options) => void): void {
  let plans = 0
  fc.assert(
    fc.property(items, options, (all, settings) => {
      const plan = planCompaction(all, settings)
      if (plan === null) return
      plans += 1
      check(plan, all, settings)
    }),
    { numRuns: 1000 },
  )
  expect(plans).toBeGreaterThan(300)
}

type Options = typeof options extends fc.Arbitrary<infer Value> ? Value : never

test('the parts of any plan are all items in their order', () => {
  forAnyPlan(({ lead, old, kept }, all) => {
    expect([...lead, ...old, ...kept]).toEqual(all)
    expect(kept.length).toBeGreaterThan(0)
  })
})

test('no plan parts an output from its call, or reasoning from what it led to', () => {
  forAnyPlan(({ lead, old }, all) => {
    const partOf = (at: number): number => (at < lead.length ? 0 : at < lead.length + old.length ? 1 : 2)
    const byCall = new Map<string, Set<number>>()
    for (const { callId, at } of pairCalls(all, () => {})) {
      if (callId === '' || at === null) continue
      byCall.set(callId, (byCall.get(callId) ?? new Set()).add(partOf(at)))
    }
    for (const parts of byCall.values()) expect(parts.size).toBe(1)
    const torn = all.filter((item, at) => {
      const next = all[at + 1]
      const isLed = next !== undefined && next.type !== 'compaction' && !isFromCaller(next)
      return item.type === 'reasoning' && isLed && partOf(at + 1) !== partOf(at)
    })
    expect(torn).toEqual([])
  })
})

function isFromCaller({ type, role }: AnyItem): boolean {
  return type === 'message' && role !== 'assistant'
}

test('what any plan comes to has every prompt and the newest task as they were', () => {
  forAnyPlan((plan, all, { countTokens }) => {
    const shorter = compactedItems(plan, 'summary', countTokens)
    const prompts = all.filter(({ role }) => role === 'system' || role === 'developer')
    const left = shorter.filter(({ role }) => role === 'system' || role === 'developer')
    expect(left.filter((item) => !isTold(item))).toEqual(prompts.filter((item) => !isTold(item)))
    const task = all.findLast(
      (item) =>
        item['role'] === 'user' &&
        item['by'] !== 'loop' &&
        !/"(Context \(tool result\):|\[Earlier in this session:)/u.test(JSON.stringify(item)),
    )
    expect(task === undefined || shorter.includes(task)).toBe(true)
  })
})

function isTold(item: AnyItem): boolean {
  return JSON.stringify(item).includes('Summary of the earlier')
}

test('no plan takes an opaque item away', () => {
  forAnyPlan(({ old }) => expect(old).not.toContainEqual(SEALED))
})

test('what any plan comes to has fewer tokens, and a second one has nothing to do', () => {
  fc.assert(
    fc.property(items, options, text, (all, settings, summary) => {
      const plan = planCompaction(all, settings)
      if (plan === null) return
      const shorter = compactedItems(plan, summary, settings.countTokens)
      expect(itemTokens(shorter, settings.countTokens)).toBeLessThan(itemTokens(all, settings.countTokens))
      expect(planCompaction(shorter, settings)).toBeNull()
    }),
    { numRuns: 1000 },
  )
})

test('what any plan keeps is sent as if nothing had been before it', () => {
  const send = { mode: 'stateless', isStored: true, answerText: () => 'not run' } as const
  forAnyPlan((plan, _all, { countTokens }) => {
    const shorter = compactedItems(plan, 'summary', countTokens)
    const front = shorter.slice(0, shorter.length - plan.kept.length)
    if (front.some(({ type }) => type === 'function_call' || type === 'function_call_output')) return
    expect(inputItems(shorter, send).items.slice(inputItems(front, send).items.length)).toEqual(
      inputItems(plan.kept, send).items,
    )
  })
})

test('the same items and settings give the same bytes', () => {
  forAnyPlan((plan, all, settings) => {
    const copy = planCompaction(JSON.parse(JSON.stringify(all)) as readonly AnyItem[], settings)
    expect(JSON.stringify(copy)).toBe(JSON.stringify(plan))
    const tell = { tokensMax: 200 }
    expect(summarizeItems(copy?.old ?? [], tell)).toBe(summarizeItems(plan.old, tell))
    expect(summaryQuestion(copy?.old ?? [], tell)).toBe(summaryQuestion(plan.old, tell))
  })
})

test('no summary of any items has more tokens than it may, by any counter', () => {
  fc.assert(
    fc.property(items, fc.oneof(fc.nat(20), fc.nat(600)), counter, (all, tokensMax, countTokens) => {
      expect(countTokens(summarizeItems(all, { tokensMax, countTokens }))).toBeLessThanOrEqual(tokensMax)
    }),
    { numRuns: 1500 },
  )
})

test('no question about any items has more tokens than it may', () => {
  fc.assert(
    fc.property(items, fc.nat(600), (all, questionTokensMax) => {
      const question = summaryQuestion(all, { tokensMax: 100, questionTokensMax })
      expect(estimateTokens(question)).toBeLessThanOrEqual(questionTokensMax)
    }),
    { numRuns: 1000 },
  )
})
