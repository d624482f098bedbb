import assert from 'node:assert/strict'
import { test } from 'node:test'

import { run } from 'loopchart'
import { assistantMessage, coverLoop, faultMatrix, functionCall, scriptedModel } from 'loopchart/testing'

import { createBuyer, type Shop } from './buyer.ts'

// One sample for each side of the approval policy: a single piece, and several.
const samples = {
  look_up_price: { article: 'apple' },
  order: [
    { article: 'apple', pieces: 1 },
    { article: 'apple', pieces: 3 },
  ],
}

function openShop(): { readonly shop: Shop; readonly orders: [string, number][] } {
  const orders: [string, number][] = []
  return { orders, shop: { price: () => 50, order: (...given) => void orders.push(given) } }
}

await test('an order of several pieces waits for a yes', async () => {
  const { shop, orders } = openShop()
  const model = scriptedModel([
    functionCall('look_up_price', { article: 'apple' }),
    functionCall('order', { article: 'apple', pieces: 3 }),
    assistantMessage('Three apples are on their way.'),
  ])
  const live = run(createBuyer(model, shop), 'three apples, please')
  for await (const frame of live) {
    if (frame.type !== 'approval_requested') continue
    assert.deepEqual(orders, [])
    await live.approve(frame.call_id)
  }
  assert.equal((await live.result).text, 'Three apples are on their way.')
  assert.deepEqual(orders, [['apple', 3]])
  model.assertComplete()
})

await test('every way through the loop that the settings leave open is taken, and breaks no rule', async () => {
  const { shop, orders } = openShop()
  const report = await coverLoop(createBuyer(scriptedModel([]), shop), { samples })
  assert.deepEqual(report.violations, [])
  assert.deepEqual(report.left, [])
  assert.deepEqual(report.transitions.missing, [])
  assert.ok(report.states.covered.includes('working.executing.awaitingApproval'))
  assert.ok(orders.length > 0)
})

await test('whatever the provider does wrong, the run ends in a named state and no call is lost', async () => {
  const { shop } = openShop()
  const { cells, violations } = await faultMatrix(createBuyer(scriptedModel([]), shop), { samples })
  assert.deepEqual(violations, [])
  assert.ok(cells.length > 300)
})
