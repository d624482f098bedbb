import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'

import { isDecision } from '../../src/inspect/page/frame-kind.ts'
import { askingAgent, talkingAgent } from '../server/service-kit.ts'
import { browserKit } from './browser-kit.ts'
import { openTab, shownState, waitAt, waitForAll, waitForState } from './run-page.ts'
import { importLog, statesOf } from './stored-logs.ts'

// More than the page has stops, fewer than a wait would take.
const STOPS_MAX = 60

test('a run is opened from the list, walked through and left again with the keyboard alone', async (context) => {
  const { store, open } = await browserKit(context, talkingAgent())
  const frames = importLog(store, 'retries-and-fallback')
  const runId = frames[0]?.run_id ?? ''
  const { page, errors } = await open()
  await page.getByRole('link', { name: runId }).waitFor()
  await tabTo(page, runId)
  await page.keyboard.press('Enter')
  await waitForAll(page, frames)

  await page.keyboard.press('Home')
  await waitAt(page, 0)
  await page.keyboard.press('ArrowRight')
  await waitAt(page, 1)
  await page.keyboard.press('ArrowLeft')
  await waitAt(page, 0)
  const decisions = frames.filter((frame) => isDecision(frame)).map(({ seq }) => seq)
  for (const seq of decisions.slice(1)) {
    await page.keyboard.press('d')
    await waitAt(page, seq)
    expect(await shownState(page)).toBe(statesOf(frames)[seq])
  }
  await page.keyboard.press('Shift+D')
  await waitAt(page, decisions.at(-2) ?? -1)

  await page.keyboard.press('Home')
  await waitAt(page, 0)
  await page.keyboard.press('e')
  const firstError = frames.find((frame) => frame.type === 'response_settled' && frame.status !== 'completed')
  await waitAt(page, firstError?.seq ?? -1)

  await tabTo(page, 'Conversation')
  for (const name of ['Calls', 'Explain', 'Actions', 'Events']) {
    await page.keyboard.press('ArrowRight')
    await page.getByRole('tab', { name, selected: true }).waitFor()
    expect(await focusedText(page)).toContain(name)
  }
  await page.keyboard.press('End')
  await page.getByRole('tab', { name: 'Frame', selected: true }).waitFor()
  await waitAt(page, firstError?.seq ?? -1)

  await page.keyboard.press('g')
  await page.getByRole('link', { name: runId }).waitFor()
  expect(errors).toEqual([])
})

test('keys of the page work where a tab was clicked, and its arrows go from tab to tab', async (context) => {
  const { store, open } = await browserKit(context, talkingAgent())
  const frames = importLog(store, 'calls-and-approval')
  const { page } = await open({ runId: frames[0]?.run_id ?? '' })
  await waitForAll(page, frames)
  await openTab(page, 'Calls')
  await page.keyboard.press('Shift+D')
  const decision = frames.findLast((frame) => isDecision(frame) && frame.seq < frames.length - 1)
  await waitAt(page, decision?.seq ?? -1)
  await page.keyboard.press('ArrowRight')
  await page.getByRole('tab', { name: 'Explain', selected: true }).waitFor()
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keys' }).waitFor()
  await page.keyboard.press('Escape')
  await waitAt(page, decision?.seq ?? -1)
  expect(await shownState(page)).toBe(statesOf(frames)[decision?.seq ?? -1])
})

test('the list of frames is walked through with its own keys, row by row and to both ends', async (context) => {
  const { store, open } = await browserKit(context, talkingAgent())
  const frames = importLog(store, 'calls-and-approval')
  const { page } = await open({ runId: frames[0]?.run_id ?? '' })
  await waitForAll(page, frames)
  const list = page.getByRole('listbox', { name: 'Frames' })
  await list.focus()
  await page.keyboard.press('Home')
  await waitAt(page, 0)
  await page.keyboard.press('ArrowDown')
  await waitAt(page, 1)
  const selected = list.getByRole('option', { selected: true })
  expect(await selected.getAttribute('aria-posinset')).toBe('2')
  expect(await list.getAttribute('aria-activedescendant')).toBe(await selected.getAttribute('id'))
  await page.keyboard.press('End')
  await waitAt(page, frames.length - 1)
})

test('the help opens and closes with keys, and the focus is where it was', async (context) => {
  const { store, open } = await browserKit(context, talkingAgent())
  const frames = importLog(store, 'answer')
  const { page } = await open({ runId: frames[0]?.run_id ?? '' })
  await waitForAll(page, frames)
  const dialog = page.getByRole('dialog', { name: 'Keys' })
  await tabTo(page, 'Keys')
  await page.keyboard.press('Enter')
  await dialog.waitFor()
  expect(await isFocusIn(page, 'dialog')).toBe(true)
  const { length: last } = frames
  await page.keyboard.press('Home')
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await waitAt(page, last - 1)
  expect(await focusedText(page)).toBe('Keys')

  await tabTo(page, 'Conversation')
  await page.keyboard.press('Tab')
  expect(await focusedText(page)).toBe('Conversation')
  await page.keyboard.press('?')
  await dialog.waitFor()
  await dialog.getByRole('button', { name: 'Close' }).focus()
  await page.keyboard.press('Enter')
  await dialog.waitFor({ state: 'detached' })
  expect(await focusedText(page)).toBe('Conversation')
})

test('keys can be turned off, and then only move what has the focus', async (context) => {
  const { store, open } = await browserKit(context, talkingAgent())
  const frames = importLog(store, 'answer')
  const { page } = await open({ runId: frames[0]?.run_id ?? '' })
  await waitForAll(page, frames)
  await page.keyboard.press('?')
  await page.getByRole('checkbox').focus()
  await page.keyboard.press('Space')
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.keyboard.press('Home')
  await page.getByRole('slider').focus()
  await page.keyboard.press('ArrowLeft')
  await waitAt(page, frames.length - 2)
  expect(await shownState(page)).toBe(statesOf(frames)[frames.length - 2])
})

test('a call is approved with the keyboard alone', async (context) => {
  const { made, ran } = askingAgent()
  const { start, open } = await browserKit(context, made)
  const { page, errors } = await open({ runId: await start() })
  await waitForState(page, 'working.executing.awaitingApproval')
  await tabTo(page, 'Waits for you')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Approve' }).waitFor()
  await tabTo(page, 'Approve')
  await page.keyboard.press('Enter')
  await waitForState(page, 'done')
  expect(ran).toEqual([{ to: 'a' }])
  expect(errors).toEqual([])
})

/** Presses the tab key until the focus is on what has a name. */
async function tabTo(page: Page, name: string): Promise<void> {
  for (let stop = 0; stop < STOPS_MAX; stop += 1) {
    await page.keyboard.press('Tab')
    if ((await focusedText(page)) === name) return
  }
  throw new Error(`the tab key does not lead to ${name}`)
}

/** The name of what has the focus. */
function focusedText(page: Page): Promise<string> {
  return page.evaluate(() => {
    const { activeElement } = Reflect.get(globalThis, 'document')
    return String(activeElement?.getAttribute('aria-label') ?? activeElement?.textContent ?? '').trim()
  })
}

function isFocusIn(page: Page, selector: string): Promise<boolean> {
  return page.evaluate(
    (wanted) => Reflect.get(globalThis, 'document').activeElement?.closest(wanted) !== null,
    selector,
  )
}
