import type { Locator } from 'playwright-core'
import { expect, test } from 'vitest'

import { agent } from '../../src/agent.ts'
import { callsAnswer, scriptedModel, textAnswer, watchedTool } from '../scripted-model.ts'
import { askingAgent, GatedModel, talkingAgent, TOKEN } from '../server/service-kit.ts'
import { browserKit } from './browser-kit.ts'
import { relayTo } from './relay.ts'
import { openTab, shownState, sliderOf, tabNames, waitAt, waitForAll, waitForState } from './run-page.ts'
import { importLog, logNames, statesOf } from './stored-logs.ts'

test('the state on the page follows a run while it goes on, to its end', async (context) => {
  const gated = new GatedModel()
  const { start, open } = await browserKit(context, gated.made)
  const runId = await start()
  const { page, errors } = await open({ runId })
  await waitForState(page, 'working.responding.requesting')
  gated.say('words as they come')
  await waitForState(page, 'working.responding.streaming')
  await page.getByText('words as they come').first().waitFor()
  await page.getByRole('img', { name: /streaming/u }).waitFor()
  gated.end()
  await waitForState(page, 'done')
  await page.getByRole('img', { name: /done/u }).waitFor()
  expect(errors).toEqual([])
})

test.for(logNames())(
  'scrubbing through %s shows, at each frame, the state that the log had there',
  async (name, context) => {
    const { store, open } = await browserKit(context, talkingAgent())
    const frames = importLog(store, name)
    const { page, errors } = await open({ runId: frames[0]?.run_id ?? '' })
    await waitForAll(page, frames)
    await sliderOf(page).focus()
    await page.keyboard.press('Home')
    const shown: string[] = []
    for (let at = 0; at < frames.length; at += 1) {
      await waitAt(page, at)
      shown.push(await shownState(page))
      await page.keyboard.press('ArrowRight')
    }
    expect(shown).toEqual(statesOf(frames))
    expect(errors).toEqual([])
  },
)

test('scrubbing back through a log shows what scrubbing forward did', async (context) => {
  const { store, open } = await browserKit(context, talkingAgent())
  const frames = importLog(store, 'calls-and-approval')
  const { page } = await open({ runId: frames[0]?.run_id ?? '' })
  await waitForAll(page, frames)
  await sliderOf(page).focus()
  const shown: string[] = []
  for (let at = frames.length - 1; at >= 0; at -= 1) {
    await waitAt(page, at)
    shown.unshift(await shownState(page))
    await page.keyboard.press('ArrowLeft')
  }
  expect(shown).toEqual(statesOf(frames))
})

test('a row of the timeline looks as its own frame does, wherever the list has been', async (context) => {
  const { store, open } = await browserKit(context, talkingAgent())
  const frames = importLog(store, 'retries-and-fallback')
  const viewport = { width: 1280, height: 420 }
  const { page } = await open({ runId: frames[0]?.run_id ?? '', viewport })
  await waitForAll(page, frames)
  const places = [0, 7, 20, frames.length - 1, 40, 41, 30, 5, 60, 0]
  for (const at of places) {
    await page.evaluate(goTo, `#/runs/${frames[0]?.run_id ?? ''}?at=${at}`)
    await waitAt(page, at)
    await page
      .locator('.timeline .row.is-selected')
      .filter({ hasText: String(at) })
      .waitFor()
    expect(await page.locator('.timeline .frame-row').evaluateAll(unlikeNew)).toEqual([])
  }
})

test('the cursor goes where the pointer is put on the scrubber', async (context) => {
  const { store, open } = await browserKit(context, talkingAgent())
  const frames = importLog(store, 'calls-and-approval')
  const { page } = await open({ runId: frames[0]?.run_id ?? '' })
  await waitForAll(page, frames)
  const middle = Math.floor((frames.length - 1) / 2)
  const box = await sliderOf(page).boundingBox()
  if (box === null) throw new Error('the scrubber is not shown')
  const x = box.x + (middle / (frames.length - 1)) * box.width
  await page.mouse.click(x, box.y + box.height / 2)
  await waitAt(page, middle)
  expect(await shownState(page)).toBe(statesOf(frames)[middle])
})

test('an address that names a frame opens the run there, and going back leads to where one was', async (context) => {
  const { store, open, url } = await browserKit(context, talkingAgent())
  const frames = importLog(store, 'calls-and-approval')
  const runId = frames[0]?.run_id ?? ''
  const { page } = await open()
  await page.getByRole('link', { name: runId }).waitFor()
  await page.goto(`${url}/inspect#/runs/${runId}?at=7&panel=frame`)
  await waitAt(page, 7)
  await page.locator('[role=tab][aria-selected=true]', { hasText: 'Frame' }).waitFor()
  expect(await page.getByRole('tabpanel').innerText()).toContain(frames[7]?.type)
  expect(await shownState(page)).toBe(statesOf(frames)[7])
  await page.goBack()
  await page.getByRole('link', { name: runId }).waitFor()
})

test('a run is played to its end', async (context) => {
  const { store, open } = await browserKit(context, talkingAgent())
  const frames = importLog(store, 'answer')
  const { page } = await open({ runId: frames[0]?.run_id ?? '' })
  await waitForAll(page, frames)
  await page.getByRole('button', { name: 'max speed' }).click()
  await sliderOf(page).focus()
  await page.keyboard.press('Home')
  await waitAt(page, 0)
  await page.getByRole('button', { name: 'Play' }).click()
  await waitAt(page, frames.length - 1)
  await page.getByRole('button', { name: 'Play' }).waitFor()
  expect(await shownState(page)).toBe('done')
})

test('fault S14: the token is taken out of the address, is in no request line, and outlives a reload', async (context) => {
  const { open, start } = await browserKit(context, talkingAgent())
  const runId = await start()
  const { page, requests } = await open()
  const row = page.getByRole('row').filter({ hasText: runId })
  await row.locator('.state-pill[title="done"]').waitFor()
  expect(page.url()).not.toContain(TOKEN)
  await page.reload()
  await row.locator('.state-pill[title="done"]').waitFor()
  expect(requests.filter((address) => address.includes(TOKEN))).toEqual([])
  const kept = await page.evaluate(() => ({
    state: JSON.stringify(Reflect.get(globalThis, 'history').state),
    cookie: String(Reflect.get(globalThis, 'document').cookie),
    local: JSON.stringify(Reflect.get(globalThis, 'localStorage')),
  }))
  expect(JSON.stringify(kept)).not.toContain(TOKEN)
  await row.getByRole('link').click()
  await waitForState(page, 'done')
  expect(page.url()).not.toContain(TOKEN)
})

test('a page without a token, or with a wrong one, says what to do and shows no run', async (context) => {
  const { open, start, url } = await browserKit(context, talkingAgent())
  const runId = await start()
  const { page } = await open({ runId, token: 'a-wrong-token-of-the-right-length' })
  await page.getByLabel('Token').waitFor()
  expect(await page.locator('body').innerText()).not.toContain('hello world')
  await page.getByLabel('Token').fill(TOKEN)
  await page.getByRole('button', { name: 'Use it' }).click()
  await waitForState(page, 'done')
  const other = await page.context().browser()?.newPage()
  await other?.goto(`${url}/inspect`)
  await other?.getByText('This page needs a token').waitFor()
  await other?.context().close()
})

test('fault S03: a page that lost its connection goes on where it was, without gap or repeat', async (context) => {
  const gated = new GatedModel()
  const { start, open, store, service, url } = await browserKit(context, gated.made)
  const relay = await relayTo(url)
  service.allowHosts([relay.host])
  const runId = await start()
  const { page } = await open({ runId, at: relay.url })
  const askedAfter: (string | undefined)[] = []
  page.on('request', (request) => {
    if (request.url().endsWith('/frames')) askedAfter.push(request.headers()['last-event-id'])
  })
  gated.say('before ')
  await page.getByText('before').first().waitFor()
  relay.cut()
  await page.getByRole('button', { name: 'Try now' }).waitFor()
  gated.say('meanwhile ')
  relay.mend()
  gated.say('after')
  gated.end()
  await waitForState(page, 'done')
  await waitForAll(page, [...store.read(runId)])
  await page.getByText('before meanwhile after').first().waitFor()
  expect(askedAfter.at(-1)).toMatch(/^\d+$/u)
})

test('nothing is asked of another origin, whatever is opened, and nothing breaks the policy', async (context) => {
  const { store, open, url } = await browserKit(context, talkingAgent())
  const frames = importLog(store, 'calls-and-approval')
  const { page, requests, errors, violations } = await open({ runId: frames[0]?.run_id ?? '' })
  await waitForAll(page, frames)
  for (const name of await tabNames(page)) await openTab(page, name)
  await page.getByRole('link', { name: 'Runs' }).click()
  await page.getByText('calls_and_approval').first().waitFor()
  expect(requests.filter((address) => !address.startsWith(`${url}/`))).toEqual([])
  expect(requests.length).toBeGreaterThan(4)
  expect(await violations()).toEqual([])
  expect(errors).toEqual([])
})

test.for([
  { width: 1280, height: 800 },
  { width: 390, height: 844 },
])(
  'at $width by $height the page is not blank, and nothing is wider than the screen',
  async (viewport, context) => {
    const { store, open } = await browserKit(context, talkingAgent())
    const frames = importLog(store, 'calls-and-approval')
    const { page } = await open({ runId: frames[0]?.run_id ?? '', viewport })
    await waitForAll(page, frames)
    await waitForState(page, 'done')
    const picture = (await page.screenshot()).toString('base64')
    const blank = await page.context().newPage()
    const colours = await blank.evaluate(countColours, `data:image/png;base64,${picture}`)
    expect(colours).toBeGreaterThan(20)
    for (const name of await tabNames(page)) {
      await openTab(page, name)
      const overflow = await page.evaluate(() => {
        const { documentElement } = Reflect.get(globalThis, 'document')
        return Number(documentElement.scrollWidth) - Number(documentElement.clientWidth)
      })
      expect({ name, overflow }).toEqual({ name, overflow: 0 })
    }
  },
)

test('on a small screen the tab that is chosen is seen, whatever chose it', async (context) => {
  const { made } = askingAgent()
  const { start, open } = await browserKit(context, made)
  const runId = await start()
  const { page } = await open({ runId, viewport: { width: 390, height: 844 } })
  await waitForState(page, 'working.executing.awaitingApproval')
  const row = page.getByRole('tablist')
  const seen = async (name: string): Promise<void> => {
    const tab = page.getByRole('tab', { name, selected: true })
    await tab.waitFor()
    await expect.poll(() => isWithin(tab, row)).toBe(true)
  }
  await page.getByRole('button', { name: 'Waits for you' }).click()
  await seen('Actions')
  await page.evaluate(goTo, `#/runs/${runId}?panel=frame`)
  await seen('Frame')
  await page.evaluate(goTo, `#/runs/${runId}?panel=chart`)
  await seen('Chart')
  await page.evaluate(goTo, `#/runs/${runId}?panel=usage`)
  await seen('Usage')
  await page.reload()
  await seen('Usage')
})

test('two runs are shown side by side at the first frame in which they part', async (context) => {
  const { tool } = watchedTool('look', () => 'seen')
  const model = scriptedModel([
    textAnswer(1, 'no need'),
    callsAnswer(1, [['look', '{}']]),
    textAnswer(2, 'done'),
  ])
  const { store, start, open } = await browserKit(context, agent({ model, tools: [tool] }))
  const partsAt: string[] = []
  const runs: string[] = []
  for (let count = 0; count < 2; count += 1) {
    const runId = await start()
    await expect.poll(() => store.find(runId)?.status).toBe('ended')
    const parting = [...store.read(runId)].find(({ type }) => type === 'response_settled')
    partsAt.push(`#${parting?.seq ?? -1} response_settled`)
    runs.push(runId)
  }
  const { page, errors } = await open({ runId: runs[0] ?? '' })
  await openTab(page, 'Compare')
  await page.getByLabel('Compare with run').fill(runs[1] ?? '')
  await page.getByRole('button', { name: 'Compare', exact: true }).click()
  const apart = page.locator('.twin .is-apart')
  await apart.nth(1).waitFor()
  const shown = (await apart.allInnerTexts()).map((text) => text.replaceAll(/\s+/gu, ' '))
  expect(shown.map((text, at) => text.startsWith(partsAt[at] ?? '?'))).toEqual([true, true])
  await page.getByText('transition 1 ').first().waitFor()
  expect(errors).toEqual([])
})

test('a run that still goes on is not said to have ended, beside one that went further', async (context) => {
  const gated = new GatedModel()
  const { start, open, store } = await browserKit(context, gated.made)
  const ended = await start()
  await expect.poll(() => gated.requests).toBe(1)
  gated.end()
  await expect.poll(() => store.find(ended)?.status).toBe('ended')
  const { page, errors } = await open({ runId: await start() })
  await waitForState(page, 'working.responding.requesting')
  await openTab(page, 'Compare')
  await page.getByLabel('Compare with run').fill(ended)
  await page.getByRole('button', { name: 'Compare', exact: true }).click()
  const sides = page.locator('.twin')
  await sides.nth(1).waitFor()
  const [mine = '', theirs = ''] = await sides.allInnerTexts()
  expect(mine).toMatch(/^a, this run: .*\n+It had not come so far when they were compared\.$/u)
  expect(theirs).toMatch(/^b, the other: /u)
  expect(await page.getByRole('tabpanel').getByRole('status').innerText()).toContain('only b goes on')
  expect(errors).toEqual([])
})

test('a button that leads to an error is off where there is none to go to', async (context) => {
  const { store, open } = await browserKit(context, talkingAgent())
  const good = importLog(store, 'answer')
  const bad = importLog(store, 'calls-and-approval')
  const { page } = await open({ runId: good[0]?.run_id ?? '' })
  await waitForAll(page, good)
  const button = page.getByRole('button', { name: 'Next error' })
  await page.keyboard.press('Home')
  await waitAt(page, 0)
  expect(await button.isDisabled()).toBe(true)
  await page.evaluate(goTo, `#/runs/${bad[0]?.run_id ?? ''}?at=0`)
  await waitForAll(page, bad)
  for (const { seq } of bad.filter(({ type }) => type === 'tool_failed')) {
    await button.click()
    await waitAt(page, seq)
  }
  expect(await button.isDisabled()).toBe(true)
})

async function isWithin(inner: Locator, outer: Locator): Promise<boolean> {
  const [one, other] = [await inner.boundingBox(), await outer.boundingBox()]
  if (one === null || other === null) return false
  return one.x >= other.x && one.x + one.width <= other.x + other.width
}

/** Runs in a page. */
function goTo(fragment: string): void {
  Reflect.get(globalThis, 'location').hash = fragment
}

/** Runs in a page: the elements that do not look as they would if they were new. */
function unlikeNew(rows: readonly unknown[]): readonly string[] {
  const styleOf = Reflect.get(globalThis, 'getComputedStyle')
  return (rows as readonly ParentElement[]).flatMap((row) => {
    const fresh = row.cloneNode(true)
    row.after(fresh)
    const [looks, wanted] = [row, fresh].map(({ children }) =>
      [...children]
        .map((child) => styleOf(child))
        .map((style) => `${String(style.color)} ${String(style.fontWeight)}`),
    )
    fresh.remove()
    return String(looks) === String(wanted)
      ? []
      : [`${row.textContent} is ${String(looks)}, not ${String(wanted)}`]
  })
}

/** As much of an element as is used here: the project has no types of the DOM. */
interface ParentElement {
  readonly children: Iterable<unknown>
  readonly textContent: string
  readonly cloneNode: (isDeep: boolean) => ParentElement
  readonly after: (other: ParentElement) => void
  readonly remove: () => void
}

/** Runs in a page. */
async function countColours(address: string): Promise<number> {
  const blob = await (await fetch(address)).blob()
  const image: { width: number; height: number } = await Reflect.get(globalThis, 'createImageBitmap')(blob)
  const Canvas = Reflect.get(globalThis, 'OffscreenCanvas')
  const drawing = new Canvas(image.width, image.height).getContext('2d')
  drawing.drawImage(image, 0, 0)
  const pixels = new Uint32Array(drawing.getImageData(0, 0, image.width, image.height).data.buffer)
  return new Set(pixels).size
}
