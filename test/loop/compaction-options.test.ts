import { expect, test } from 'vitest'

import { agentCompaction, type CompactionOptions } from '../../src/agent-compaction.ts'
import { agent } from '../../src/agent.ts'
import type { CompactionPort } from '../../src/loop/agent.ts'
import type { Model } from '../../src/loop/model.ts'
import type { AnyItem } from '../../src/protocol/items.ts'
import { scriptedModel } from '../scripted-model.ts'

function settingsOf(compaction: CompactionOptions, model: Partial<Model> = {}): unknown[] {
  const { settings, compaction: port } = agent({ model: scriptedModel([], model), compaction })
  return [port?.way, settings.compactAtTokens, settings.compactAtItems]
}

test('an agent without compaction never compacts', () => {
  const { settings, compaction } = agent({ model: scriptedModel([]) })
  expect([compaction, settings.compactAtTokens, settings.compactAtItems]).toEqual([null, null, null])
})

test('the trigger is a number of tokens, a share of a window or a number of items', () => {
  expect(settingsOf({ atTokens: 500 })).toEqual(['rules', 500, null])
  expect(settingsOf({ atItems: 40, way: 'model' })).toEqual(['model', null, 40])
  expect(settingsOf({ atShare: 0.8, window: 1000 })).toEqual(['rules', 800, null])
  expect(settingsOf({ atShare: 0.8 }, { contextWindow: 2000 })).toEqual(['rules', 1600, null])
  expect(settingsOf({ atShare: 0.5, window: 1000 }, { contextWindow: 2000 })).toEqual(['rules', 500, null])
  expect(settingsOf({ atShare: 0.5, atTokens: 90, window: 1000 })).toEqual(['rules', 90, null])
})

test('with several models the smallest window counts', () => {
  const models = [scriptedModel([], { contextWindow: 4000 }), scriptedModel([], { contextWindow: 1000 })]
  expect(agent({ model: models, compaction: { atShare: 1 } }).settings.compactAtTokens).toBe(1000)
})

test.for<readonly [string, unknown]>([
  ['compaction needs one of atTokens, atShare and atItems', {}],
  ['compaction.atShare: the window of the model is not known; give compaction.window', { atShare: 0.5 }],
  ['compaction.atShare must be a number above 0 and at most 1', { atShare: 0, window: 10 }],
  ['compaction.atShare must be a number above 0 and at most 1', { atShare: 80, window: 10 }],
  ['compaction.atTokens must be a whole number of at least 1', { atTokens: 0 }],
  ['compaction.keepTokens must be a whole number of at least 1', { atTokens: 9, keepTokens: 1.5 }],
  ['compaction.way must be rules or model or provider', { atTokens: 9, way: 'magic' }],
  ['compaction.compact must be a function', { atTokens: 9, compact: 'shorter' }],
  ['and is given instead of compaction.way', { atTokens: 9, compact: () => null, way: 'rules' }],
  ['there is no compaction.atTurns', { atTokens: 9, atTurns: 3 }],
  ['the model is not known to have an endpoint for it', { atTokens: 9, way: 'provider' }],
])('what makes no sense is refused: %s', ([message, compaction]) => {
  expect(() => agent({ model: scriptedModel([]), compaction: compaction as CompactionOptions })).toThrow(
    message,
  )
})

test('models of several providers cannot be compacted by one of them, which the others could not read', () => {
  const models = ['a:', 'b:'].map((endpoint) =>
    scriptedModel([], { compact: { endpoint, send: () => Promise.resolve(null) } }),
  )
  expect(wayOf(models.slice(1))).toBe('provider')
  expect(() => wayOf(models)).toThrow('all models must be of one provider')
  expect(() => wayOf([...models.slice(1), scriptedModel([])])).toThrow('not known to have an endpoint')
})

function wayOf(model: readonly Model[]): unknown {
  return agent({ model, compaction: { atTokens: 9, way: 'provider' } }).compaction?.way
}

test('half of the trigger stays, as the provider counts it', () => {
  const port = portOf({ atTokens: 2000 })
  const items = conversation(20)
  const estimated = port.countTokens(items)
  expect(estimated).toBeGreaterThan(1000)
  const kept = (usedTokens: number | null): number =>
    port.countTokens(port.plan(items, usedTokens)?.kept ?? items)
  expect(kept(null)).toBeLessThanOrEqual(1000)
  expect(kept(null)).toBeGreaterThan(500)
  // Four times what was estimated: of that, half of the trigger is a quarter of the estimate.
  expect(kept(estimated * 4)).toBeLessThanOrEqual(250)
  // What the provider counts may be of the new items only: that is no reason to keep more.
  expect(kept(1)).toBe(kept(null))
})

test('where items are counted, half of them stay', () => {
  const port = portOf({ atItems: 20 })
  expect(port.plan(conversation(20), 100_000)?.kept).toHaveLength(10)
})

test.for<readonly [CompactionOptions, number | null, string | null]>([
  // 20 messages of about 115 tokens each.
  [{ atTokens: 2000, keepTokens: 1000 }, null, null],
  [{ atTokens: 2000, keepTokens: 1700 }, null, 'gains_little'],
  [{ atTokens: 800, keepTokens: 1000 }, null, 'stays_long'],
  // The provider counts four times as much.
  [{ atTokens: 8000, keepTokens: 4000 }, 10_000, null],
  [{ atTokens: 8000, keepTokens: 8800 }, 10_000, 'gains_little'],
  [{ atTokens: 5000, keepTokens: 4400 }, 10_000, 'stays_long'],
  // Items are counted, whatever they are long.
  [{ atItems: 20 }, 100_000, null],
  [{ atItems: 30 }, null, 'gains_little'],
  [{ atItems: 6, keepTokens: 800 }, null, 'stays_long'],
  // Of two triggers that counts which was reached.
  [{ atItems: 6, atTokens: 8000, keepTokens: 4000 }, 10_000, null],
  [{ atItems: 6, atTokens: 11_000, keepTokens: 4000 }, 10_000, 'stays_long'],
])('a plan is doubted for what it gains and for what stays: %j', ([options, usedTokens, doubt]) => {
  const port = portOf({ summaryTokens: 100, ...options })
  const plan = port.plan(conversation(20), usedTokens)
  if (plan === null) throw new Error('there is no plan')
  expect(port.doubt(plan, usedTokens)).toBe(doubt)
})

test('a summary by rules does not repeat the message that stands behind it', () => {
  const port = portOf({ atTokens: 2000, keepTokens: 1000 })
  const plan = port.plan(conversation(20), null)
  if (plan === null) throw new Error('there is no plan')
  expect(plan.standing).toMatchObject([{ content: expect.stringContaining('number 10:') as string }])
  expect(JSON.stringify(port.byRules(plan)).match(/number 10:/gu)).toHaveLength(1)
})

function portOf(options: CompactionOptions): CompactionPort {
  const made = agentCompaction(options, [scriptedModel([])])
  if (made === null) throw new Error('there are options')
  return made.port
}

function conversation(length: number): readonly AnyItem[] {
  return Array.from({ length }, (_, at) => ({
    type: 'message',
    role: at % 2 === 0 ? 'user' : 'assistant',
    content: `number ${at}: ${'word '.repeat(80)}`,
  }))
}
