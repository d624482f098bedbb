import { expect, test } from 'vitest'

import { askingAgent, GatedModel, READ_TOKEN, talkingAgent } from '../server/service-kit.ts'
import { browserKit } from './browser-kit.ts'
import { openTab, waitForState } from './run-page.ts'
import { importLog } from './stored-logs.ts'

const ASKING = 'working.executing.awaitingApproval'

test('a call is approved on the page with a token that may', async (context) => {
  const { made, ran } = askingAgent()
  const { start, open } = await browserKit(context, made)
  const { page, errors } = await open({ runId: await start() })
  await waitForState(page, ASKING)
  await openTab(page, 'Actions')
  await page.getByRole('button', { name: 'Approve' }).click()
  await waitForState(page, 'done')
  // What was answered to the yes was about a run that still went on.
  await expect.poll(() => page.getByRole('tabpanel').innerText()).not.toContain('The run is in')
  expect(ran).toEqual([{ to: 'a' }])
  expect(errors).toEqual([])
})

test('a call is denied on the page, and the model is told why', async (context) => {
  const { made, ran } = askingAgent()
  const { start, open, store } = await browserKit(context, made)
  const runId = await start()
  const { page } = await open({ runId })
  await waitForState(page, ASKING)
  await openTab(page, 'Actions')
  await page.getByLabel('Reason, for a no').fill('not on a Friday')
  await page.getByRole('button', { name: 'Deny' }).click()
  await waitForState(page, 'done')
  expect(ran).toEqual([])
  expect(JSON.stringify([...store.read(runId)])).toContain('not on a Friday')
})

test('a token that may only read is refused where it asks for more, by the page and by the service', async (context) => {
  const { made, ran } = askingAgent()
  const { start, open, url } = await browserKit(context, made)
  const runId = await start()
  const { page } = await open({ runId, token: READ_TOKEN })
  await waitForState(page, ASKING)
  await page.getByRole('button', { name: 'Waits for somebody' }).click()
  await page.getByText('This token may not answer.').waitFor()
  expect(await page.getByRole('button', { name: 'Approve' }).isDisabled()).toBe(true)
  expect(await page.getByRole('button', { name: 'Cancel the run' }).count()).toBe(0)
  const status = await page.evaluate(
    async ([address, token]) => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
      const body = JSON.stringify({ call: 'call_1_0' })
      return (await fetch(address ?? '', { method: 'POST', headers, body })).status
    },
    [`${url}/runs/${runId}/approve`, READ_TOKEN],
  )
  expect(status).toBe(403)
  expect(ran).toEqual([])
  await waitForState(page, ASKING)
  await page.getByRole('link', { name: 'Runs' }).click()
  await page.getByRole('button', { name: 'waits for somebody' }).waitFor()
})

test('a run that nobody here can go on with is not called live, and whoever answers is told why not', async (context) => {
  const { open, store } = await browserKit(context, talkingAgent())
  const frames = importLog(store, 'waiting-for-a-yes')
  const { page } = await open({ runId: frames[0]?.run_id ?? '' })
  await waitForState(page, ASKING)
  await page.getByRole('status').filter({ hasText: 'Driven by nobody' }).waitFor()
  await page.getByRole('button', { name: 'Waits for somebody' }).waitFor()
  await openTab(page, 'Actions')
  await page.getByText('none can go on with it here').waitFor()
  await page.getByRole('button', { name: 'Approve' }).click()
  await page.getByRole('status').filter({ hasText: 'belongs to no agent of this service' }).waitFor()
  expect(store.find(frames[0]?.run_id ?? '')?.frames).toBe(frames.length)
})

test('a run is steered and cancelled from the page', async (context) => {
  const gated = new GatedModel()
  const { start, open, store } = await browserKit(context, gated.made)
  const runId = await start()
  const { page } = await open({ runId })
  await openTab(page, 'Actions')
  await page.getByLabel('Steer').fill('shorter, please')
  await page.getByRole('button', { name: 'Send' }).click()
  await page
    .getByRole('status')
    .filter({ hasText: /queued/iu })
    .waitFor()
  await page.getByRole('button', { name: 'Cancel the run' }).click()
  await page.getByRole('button', { name: 'Yes, end it for good' }).click()
  await waitForState(page, 'cancelled')
  expect(JSON.stringify([...store.read(runId)])).toContain('shorter, please')
})
