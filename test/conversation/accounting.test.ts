import { expect, test } from 'vitest'

import { costOf } from '../../src/conversation/cost-of.ts'
import { tempStore } from '../journal/store-kit.ts'
import { calls, loggedFrames, ofType, says, startTalk } from './conversation-kit.ts'

const USAGE = { prompt_tokens: 1000, completion_tokens: 200, total_tokens: 1200, cached: 400, reasoning: 50 }
const PRICES = { input: 1.25, output: 10, cachedInput: 0.125 }

/** A turn that says something and has used so many tokens. */
function using(text: string, input: number, output: number) {
  return {
    output: [says(text)],
    usage: { input_tokens: input, output_tokens: output, cached_tokens: 400, reasoning_tokens: 50 },
  }
}

test('Tokens from the cache have their own price, and are not paid for twice.', () => {
  expect(costOf(USAGE, PRICES)).toBeCloseTo((600 * 1.25 + 400 * 0.125 + 200 * 10) / 1e6, 12)
  expect(costOf(USAGE, { input: 1, output: 1 })).toBeCloseTo(1200 / 1e6, 12)
  expect(costOf(USAGE, null)).toBeNull()
})

test('What all runs used is added up, with what was cached and what was reasoning, and has a cost.', async () => {
  const { talk } = startTalk([using('one', 1000, 200), using('two', 1000, 200)], { prices: PRICES })
  await talk.send('first')
  await talk.send('second')
  expect(talk.usage).toMatchObject({
    prompt_tokens: 2000,
    completion_tokens: 400,
    total_tokens: 2400,
    cached: 800,
    reasoning: 100,
    messages: 2,
    runs: 2,
  })
  expect(talk.usage.cost).toBeCloseTo(2 * (costOf(USAGE, PRICES) ?? 0), 12)
  const ended = ofType(await loggedFrames(talk), 'conversation_run_ended')
  expect(ended.map(({ cost }) => cost)).toEqual([costOf(USAGE, PRICES), costOf(USAGE, PRICES)])
})

test('Without prices there is no cost.', async () => {
  const { talk } = startTalk([says('one')])
  await talk.send('first')
  expect(talk.usage.cost).toBeNull()
})

test('What was paid stays paid when a conversation is opened again with other prices.', async () => {
  const store = tempStore()
  const first = startTalk([using('one', 1000, 200)], { store, id: 'c1', prices: PRICES })
  await first.talk.send('first')
  const paid = first.talk.usage.cost
  await first.talk.close()
  const second = startTalk([], { store, id: 'c1', prices: { input: 100, output: 100 } })
  expect(second.talk.usage.cost).toBe(paid)
})

test('A message after the budget of tokens is used up is refused.', async () => {
  const { talk, model } = startTalk([using('one', 1000, 200)], { budget: { tokens: 1200 } })
  await talk.send('first')
  const turn = talk.send('second')
  expect(turn.receipt).toMatchObject({ answer: 'refused', reason: '1200 of 1200 tokens are used' })
  expect(await turn).toMatchObject({ status: 'refused', reason: 'budget_used_up' })
  expect(model.requests).toHaveLength(1)
})

test('A message that waits is refused when the one before it used the budget up.', async () => {
  const { talk } = startTalk([using('one', 1000, 200)], { budget: { tokens: 1200 } })
  const first = talk.send('first')
  const second = talk.send('second')
  expect(second.receipt.answer).toBe('queued')
  await first
  expect(await second).toMatchObject({ status: 'refused', reason: 'budget_used_up' })
})

test('A run may use no more than what is left of the budget.', async () => {
  const spending = {
    output: [calls('add', { a: 1, b: 2 })],
    usage: { input_tokens: 900, output_tokens: 300 },
  }
  const { talk } = startTalk([spending, says('never')], { budget: { tokens: 1000 } })
  expect(await talk.send('first')).toMatchObject({ state: 'limitExceeded', reason: 'tokens' })
})

test('A message after the budget of money is spent is refused.', async () => {
  const { talk } = startTalk([using('one', 1000, 200)], { prices: PRICES, budget: { cost: 0.001 } })
  await talk.send('first')
  expect(await talk.send('second')).toMatchObject({ status: 'refused', reason: 'budget_used_up' })
})
