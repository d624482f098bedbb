import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'

import { agent } from '../../src/agent.ts'
import type { Frame } from '../../src/frames/generated/frame.ts'
import { run } from '../../src/loop/run.ts'
import { scriptedModel, textAnswer } from '../scripted-model.ts'
import { talkingAgent } from '../server/service-kit.ts'
import { sseText, StreamBuilder } from '../../scripts/fixtures/stream-builder.ts'
import { browserKit } from './browser-kit.ts'
import { openTab, shownState, sliderOf, waitAt } from './run-page.ts'
import { statesOf } from './stored-logs.ts'

// Each is two frames: the event of the provider, and the text in it.
const PIECES = 50_000
const ROWS_MAX = 120

test('a run of 100,000 frames is scrolled and scrubbed: the right rows, the right states, and few of them drawn', async (context) => {
  const { store, open } = await browserKit(context, talkingAgent())
  const pieces = Array.from({ length: PIECES }, (_, at) => `w${at} `)
  const model = scriptedModel([
    sseText(new StreamBuilder('resp_1').start().message(0, pieces).end('incomplete').events),
    textAnswer(2, 'the end of it'),
  ])
  const { result, id } = run(agent({ model }), 'Say a lot.', { store })
  await result
  const frames = [...store.read(id)]
  const last = frames.length - 1
  expect(last).toBeGreaterThan(100_000)
  const states = statesOf(frames)

  const { page, errors } = await open({ runId: id })
  await page.locator(`[role=slider][aria-valuemax="${last}"]`).waitFor({ timeout: 120_000 })
  await waitAt(page, last)
  await expectPlace(page, frames, states, last)

  const box = await sliderOf(page).boundingBox()
  if (box === null) throw new Error('the scrubber is not shown')
  for (const share of [0.1, 0.9, 0.5]) {
    const x = Math.round(box.x + box.width * share)
    const at = Math.round(((x - box.x) / box.width) * last)
    await page.mouse.click(x, box.y + box.height / 2)
    await waitAt(page, at)
    await expectPlace(page, frames, states, at)
  }

  const list = page.getByRole('listbox', { name: 'Frames' })
  for (const row of [0, 77_777, 12_345]) {
    await list.evaluate((element, top) => Reflect.set(element, 'scrollTop', top), row * ROW_HEIGHT)
    const shown = list.locator(`[aria-posinset="${row + 1}"]`)
    await shown.waitFor()
    expect(await shown.innerText()).toContain(frames[row]?.type)
    await shown.click()
    await waitAt(page, row)
    await expectPlace(page, frames, states, row)
  }

  await openTab(page, 'Events')
  await expectFewRows(page)
  await page.keyboard.press('Tab')
  await page.keyboard.press('End')
  await sliderOf(page).focus()
  await page.keyboard.press('End')
  await waitAt(page, last)
  await page.keyboard.press('ArrowLeft')
  await waitAt(page, last - 1)
  await expectPlace(page, frames, states, last - 1)
  await openTab(page, 'Conversation')
  await page.getByText('Say a lot.').first().waitFor()
  expect(errors).toEqual([])
})

const ROW_HEIGHT = 26

/** The row, the state and the picture are those of a frame. */
async function expectPlace(
  page: Page,
  frames: readonly Frame[],
  states: readonly string[],
  at: number,
): Promise<void> {
  const row = page.getByRole('listbox', { name: 'Frames' }).getByRole('option', { selected: true })
  await row.waitFor()
  expect(await row.getAttribute('aria-posinset')).toBe(String(at + 1))
  expect(await row.innerText()).toContain(frames[at]?.type)
  expect(await shownState(page)).toBe(states[at])
  await expectFewRows(page)
}

async function expectFewRows(page: Page): Promise<void> {
  const rows = await page.locator('.rows .row').count()
  expect(rows).toBeGreaterThan(0)
  expect(rows).toBeLessThan(ROWS_MAX)
}
