import axe from 'axe-core'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'

import { askingAgent, talkingAgent } from '../server/service-kit.ts'
import { browserKit } from './browser-kit.ts'
import { openTab, tabNames, waitAt, waitForAll, waitForState } from './run-page.ts'
import { importLog, logNames } from './stored-logs.ts'

const LOOKS = [
  { colorScheme: 'light', viewport: { width: 1280, height: 800 } },
  { colorScheme: 'dark', viewport: { width: 1280, height: 800 } },
  { colorScheme: 'light', viewport: { width: 390, height: 844 } },
  { colorScheme: 'dark', viewport: { width: 390, height: 844 } },
] as const

test.for(LOOKS)(
  'axe finds nothing serious in a run, tab by tab, $colorScheme at $viewport.width',
  async (look, context) => {
    const { store, open } = await browserKit(context, talkingAgent())
    const other = importLog(store, 'cancelled')
    const frames = importLog(store, 'calls-and-approval')
    const { page } = await open({ runId: frames[0]?.run_id ?? '', ...look })
    await waitForAll(page, frames)
    for (const name of await tabNames(page)) {
      await openTab(page, name)
      expect(await seriousIn(page), name).toEqual([])
    }
    await openTab(page, 'Compare')
    await page.getByLabel('Compare with run').fill(other[0]?.run_id ?? '')
    await page.getByRole('button', { name: 'Compare', exact: true }).click()
    await page.locator('.twins').waitFor()
    expect(await seriousIn(page), 'two runs').toEqual([])
  },
)

test.for(LOOKS)(
  'axe finds nothing serious in the list, in the help, without a token, or where something went wrong, $colorScheme at $viewport.width',
  async (look, context) => {
    const { store, open, url } = await browserKit(context, talkingAgent())
    for (const name of logNames()) importLog(store, name)
    const { page } = await open(look)
    await page.getByRole('row').filter({ hasText: 'run_waiting_for_a_yes' }).waitFor()
    expect(await seriousIn(page), 'list').toEqual([])
    await page.getByLabel('Search runs').fill('nothing is called this')
    await page.getByText('No run is like that.').waitFor()
    expect(await seriousIn(page), 'empty list').toEqual([])
    await page.goto(`${url}/inspect#/runs/run_retries_and_fallback`)
    await waitForState(page, 'done')
    await page.keyboard.press('?')
    await page.getByRole('dialog').waitFor()
    expect(await seriousIn(page), 'help').toEqual([])
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.keyboard.press('Home')
    await page.keyboard.press('e')
    for (const name of ['Conversation', 'Events', 'Requests']) {
      await openTab(page, name)
      expect(await seriousIn(page), `${name} of a failed run`).toEqual([])
    }
    await page.goto(`${url}/inspect#/runs/no_such_run`)
    await page.getByText('No such run').first().waitFor()
    expect(await seriousIn(page), 'no such run').toEqual([])
    const { page: gate } = await open({ ...look, token: '' })
    await gate.getByLabel('Token').waitFor()
    expect(await seriousIn(gate), 'no token').toEqual([])
  },
)

test.for(LOOKS)(
  'axe finds nothing serious where a call waits for a person, $colorScheme at $viewport.width',
  async (look, context) => {
    const { start, open } = await browserKit(context, askingAgent().made)
    const runId = await start()
    const { page } = await open({ runId, ...look })
    await waitForState(page, 'working.executing.awaitingApproval')
    await page.getByRole('button', { name: 'Waits for you' }).click()
    await page.getByRole('button', { name: 'Approve' }).waitFor()
    expect(await seriousIn(page), 'question').toEqual([])
    await page.keyboard.press('Escape')
    await page.locator('[role=slider]').focus()
    await page.keyboard.press('Home')
    await waitAt(page, 0)
    expect(await seriousIn(page), 'at the first frame').toEqual([])
  },
)

test('axe is heard: a page with a button that has no name has something critical', async (context) => {
  const { open } = await browserKit(context, talkingAgent())
  const { page } = await open()
  await page.getByText('There are no runs yet').waitFor()
  await page.evaluate(() => {
    const { body } = Reflect.get(globalThis, 'document')
    body.append(Reflect.get(globalThis, 'document').createElement('button'))
  })
  expect(await seriousIn(page)).toEqual([expect.stringContaining('critical button-name')])
})

/** What axe says is serious or critical, with where it is. */
async function seriousIn(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe.source)
  const found = await page.evaluate(async () => {
    const { run } = Reflect.get(globalThis, 'axe') as typeof axe
    const { violations } = await run()
    return violations.map(({ id, impact, nodes }) => ({
      id,
      impact,
      where: nodes.map(({ html, failureSummary }) => `${html} ${failureSummary ?? ''}`),
    }))
  })
  return found
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, impact, where }) => `${impact} ${id}: ${where.slice(0, 3).join(' | ')}`)
}
