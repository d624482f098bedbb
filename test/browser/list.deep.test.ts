import { expect, test } from 'vitest'

import { talkingAgent, TOKEN } from '../server/service-kit.ts'
import { browserKit } from './browser-kit.ts'
import { relayTo } from './relay.ts'
import { waitForState } from './run-page.ts'
import { importLog } from './stored-logs.ts'

test('the list is filtered by text, state, status and what waits for somebody, and its address keeps that', async (context) => {
  const { store, open } = await browserKit(context, talkingAgent())
  for (const name of ['answer', 'cancelled', 'limit-and-last-word', 'waiting-for-a-yes'])
    importLog(store, name)
  const { page } = await open()
  const shows = async (...runs: readonly string[]): Promise<void> => {
    await expect.poll(async () => (await page.locator('tbody a').allInnerTexts()).toSorted()).toEqual(runs)
  }
  await shows('run_answer', 'run_cancelled', 'run_limit_and_last_word', 'run_waiting_for_a_yes')
  await page.getByLabel('State').selectOption('cancelled')
  await shows('run_cancelled')
  await page.waitForURL(/state=cancelled/u)
  await page.getByRole('link', { name: 'run_cancelled' }).click()
  await waitForState(page, 'cancelled')
  await page.goBack()
  await shows('run_cancelled')
  await page.getByLabel('State').selectOption('any state')
  await page.getByLabel('Status').selectOption('ended')
  await shows('run_answer', 'run_cancelled', 'run_limit_and_last_word')
  await page.getByLabel('Search runs').fill('word')
  await shows('run_limit_and_last_word')
  await page.waitForURL(/q=word/u)
  await page.reload()
  await shows('run_limit_and_last_word')
  await page.getByRole('button', { name: 'waits for you' }).click()
  await page.getByRole('button', { name: 'Show all' }).click()
  await page.getByRole('button', { name: 'waits for you' }).click()
  await shows('run_waiting_for_a_yes')
})

test('a filter that is chosen while somebody types is kept, and so is what was typed', async (context) => {
  const { store, open } = await browserKit(context, talkingAgent())
  for (const name of ['answer', 'cancelled']) importLog(store, name)
  const { page } = await open()
  await page.getByRole('link', { name: 'run_answer' }).waitFor()
  await page.clock.install()
  await page.getByLabel('Search runs').fill('run')
  await page.getByLabel('State').selectOption('cancelled')
  await page.clock.runFor(2000)
  expect(await page.getByLabel('State').inputValue()).toBe('cancelled')
  expect(await page.getByLabel('Search runs').inputValue()).toBe('run')
  expect(new URL(page.url()).hash).toBe('#/runs?q=run&state=cancelled')
})

test('the list asks nothing more with a token that was refused, and all again with another one', async (context) => {
  const { store, open } = await browserKit(context, talkingAgent())
  importLog(store, 'answer')
  const { page, requests } = await open({ token: 'a-wrong-token-of-the-right-length' })
  await page.clock.install()
  // So that no timer is of the time before.
  await page.reload()
  await page.getByLabel('Token').waitFor()
  const asked = (): number => requests.filter((address) => address.includes('/runs?')).length
  const refused = asked()
  await page.clock.runFor(60_000)
  await page.getByLabel('State').selectOption('done')
  await page.clock.runFor(60_000)
  expect(asked()).toBe(refused)
  await page.getByLabel('Token').fill(TOKEN)
  await page.getByRole('button', { name: 'Use it' }).click()
  await page.getByRole('link', { name: 'run_answer' }).waitFor()
  const before = asked()
  await page.clock.runFor(10_000)
  await expect.poll(asked).toBeGreaterThan(before)
})

test('the list of a service that was away is read again by itself', async (context) => {
  const { store, open, service, url } = await browserKit(context, talkingAgent())
  const relay = await relayTo(url)
  service.allowHosts([relay.host])
  const { page } = await open({ at: relay.url })
  await page.getByText('There are no runs yet').waitFor()
  relay.cut()
  await page.getByRole('button', { name: 'Try now' }).waitFor()
  importLog(store, 'answer')
  relay.mend()
  await page.getByRole('link', { name: 'run_answer' }).waitFor()
  expect(await page.getByRole('button', { name: 'Try now' }).count()).toBe(0)
})

test('on the narrowest screen a choice of the list is read whole, beside its arrow', async (context) => {
  const { open } = await browserKit(context, talkingAgent())
  const { page } = await open({ viewport: { width: 320, height: 640 } })
  for (const name of ['State', 'Status']) {
    const select = page.getByLabel(name)
    await select.waitFor()
    expect(await select.evaluate(spareWidth)).toBeGreaterThanOrEqual(0)
  }
})

/** Runs in a page: how much wider a choice is than its text and the arrow beside it. */
function spareWidth(select: unknown): number {
  const { clientWidth, selectedOptions } = select as {
    readonly clientWidth: number
    readonly selectedOptions: readonly { readonly text: string }[]
  }
  const style = Reflect.get(globalThis, 'getComputedStyle')(select)
  const drawing = Reflect.get(globalThis, 'document').createElement('canvas').getContext('2d')
  drawing.font = `${String(style.fontSize)} ${String(style.fontFamily)}`
  const textWidth = Number(drawing.measureText(selectedOptions[0]?.text ?? '').width)
  const arrowWidth = 16
  return clientWidth - Number.parseFloat(style.paddingLeft) - textWidth - arrowWidth
}
