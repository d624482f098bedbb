import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'

import { agent } from '../../src/agent.ts'
import { parseFrame } from '../../src/frames/parse-frame.ts'
import { visibleText } from '../../src/inspect/page/derive/visible-text.ts'
import type { Agent } from '../../src/loop/agent.ts'
import { scriptedModel, streamAnswer, watchedTool } from '../scripted-model.ts'
import { talkingAgent } from '../server/service-kit.ts'
import { browserKit } from './browser-kit.ts'
import { hostileLog, rotation } from './hostile-logs.ts'
import { openTab, waitAt, waitForAll, waitForState } from './run-page.ts'
import { logLines, logNames } from './stored-logs.ts'
import type { WatchedPage } from './watched-page.ts'
import { XSS_PAYLOADS } from './xss-payloads.ts'

const ALL = XSS_PAYLOADS.join('\n')
const PANELS = [
  'conversation',
  'calls',
  'explain',
  'actions',
  'events',
  'requests',
  'usage',
  'compare',
  'frame',
] as const

test('the corpus has 100 payloads, no two the same', () => {
  expect(new Set(XSS_PAYLOADS).size).toBe(100)
})

test('fault S13: nothing that a run says, does or is told runs as script on the page', async (context) => {
  const { start, send, open, url, store } = await browserKit(context, hostileAgent())
  const runId = await start(ALL)
  const watched = await open({ runId })
  const { page } = watched
  await waitForState(page, 'working.executing.awaitingApproval')
  await send(runId, 'steer', { text: ALL })
  await openTab(page, 'Actions')
  await page.getByText('<SCRIPT>pwned()</SCRIPT>').first().waitFor()
  await send(runId, 'deny', { call: 'call_0', reason: ALL })
  await waitForState(page, 'failed')
  const frames = [...store.read(runId)]
  await waitForAll(page, frames)
  // Each type of frame once, so that every way to show one is looked at.
  await lookAtAll(page, runId, [...new Map(frames.map(({ type, seq }) => [type, seq])).values()])
  const conversation = await textOf(page, runId, frames.length - 1, 'conversation')
  const echoed = frames.find(({ type }) => type === 'tool_ended')
  const calls = await textOf(page, runId, echoed?.seq ?? 0, 'calls')
  for (const text of XSS_PAYLOADS.map(asShown)) {
    // What it was asked, two kinds of reasoning, its text, the steering, the reason of the no, and the refusal.
    expect(timesIn(conversation, text), text).toBeGreaterThanOrEqual(7)
    // Standard output and standard error of the call.
    expect(timesIn(calls, text), text).toBeGreaterThanOrEqual(2)
  }
  await expectHarmless(watched, url)
})

test('fault S13: a log whose every free text is hostile is shown as text, in the list, in each tab and beside another', async (context) => {
  const { store, open, url } = await browserKit(context, talkingAgent())
  const next = rotation(XSS_PAYLOADS)
  const runs = logNames().map((name) => {
    const lines = hostileLog(logLines(name), next)
    store.importRun(lines)
    return { runId: parseFrame(lines[0] ?? '').run_id, last: lines.length - 1 }
  })
  const watched = await open()
  const { page } = watched
  let shown = ''
  for (const { runId } of runs) await page.getByRole('link', { name: runId }).waitFor()
  shown += await page.locator('body').innerText()
  for (const [index, { runId, last }] of runs.entries()) {
    shown += await lookAtAll(page, runId, [1, Math.floor(last / 2), last])
    await textOf(page, runId, last, 'compare')
    await page.getByLabel('Compare with run').fill(runs[(index + 1) % runs.length]?.runId ?? '')
    await page.getByRole('button', { name: 'Compare', exact: true }).click()
    await page.locator('.twins, .panel [role=alert]').first().waitFor()
    shown += await page.locator('body').innerText()
  }
  for (const payload of XSS_PAYLOADS) {
    const forms = [asShown(payload), asShown(JSON.stringify(payload).slice(1, -1))]
    expect(
      forms.filter((form) => shown.includes(form)),
      payload,
    ).not.toEqual([])
  }
  await expectHarmless(watched, url)
})

test('fault S13: a page that takes texts for markup is found out, and its policy still lets nothing run', async (context) => {
  const { start, send, open } = await browserKit(context, hostileAgent())
  const runId = await start(ALL)
  const guarded = await open({ runId })
  await waitForState(guarded.page, 'working.executing.awaitingApproval')
  await guarded.page.evaluate(takeTextForMarkup)
  await send(runId, 'steer', { text: ALL })
  await expect.poll(() => guarded.violations().then(({ length }) => length)).toBeGreaterThan(0)
  expect(guarded.pwned).toEqual([])

  const bare = await open({ runId })
  await bare.page.context().route('**/inspect', async (route) => {
    const response = await route.fetch()
    const { 'content-security-policy': _, ...headers } = response.headers()
    await route.fulfill({ response, headers })
  })
  await bare.page.addInitScript(takeTextForMarkup)
  await bare.page.reload()
  await expect.poll(() => bare.pwned.length).toBeGreaterThan(10)
})

/** Says every payload in each way in which a model, a tool or a provider can say something. */
function hostileAgent(): Agent {
  const { tool: echo } = watchedTool('echo', (_, { onOutput }) => {
    onOutput('stdout', ALL)
    onOutput('stderr', ALL)
    return ALL
  })
  const { tool: breaks } = watchedTool('breaks', () => {
    throw new Error(ALL)
  })
  const { tool: asks } = watchedTool('asks', () => ALL, { needsApproval: true, preview: () => ALL })
  const args = JSON.stringify(Object.fromEntries(XSS_PAYLOADS.map((text) => [text, text])))
  const model = scriptedModel([
    streamAnswer(1, (stream) =>
      stream
        .reasoning(0, [ALL], [ALL])
        .message(1, [ALL])
        .call(2, 'echo', [args])
        .call(3, 'breaks', [args])
        .call(4, '<img src=x onerror=pwned()>', [ALL])
        .end(),
    ),
    streamAnswer(2, (stream) => stream.call(0, 'asks', [args]).end()),
    streamAnswer(3, (stream) =>
      stream.refusal(0, [ALL]).end('failed', { error: { code: 'invalid_prompt', message: ALL } }),
    ),
  ])
  return agent({
    model: { ...model, name: '<script>pwned()</script>' },
    tools: [echo, breaks, asks],
    instructions: ALL,
  })
}

/** Everything that the page shows of a run at some of its frames, tab by tab. */
async function lookAtAll(page: Page, runId: string, places: readonly number[]): Promise<string> {
  let shown = ''
  for (const at of places) {
    for (const panel of PANELS) shown += await textOf(page, runId, at, panel)
  }
  return shown
}

async function textOf(page: Page, runId: string, at: number, panel: string): Promise<string> {
  await page.evaluate(
    (fragment) => Reflect.set(Reflect.get(globalThis, 'location'), 'hash', fragment),
    `#/runs/${runId}?at=${at}&panel=${panel}`,
  )
  await waitAt(page, at)
  await page.locator(`#tab-${panel}[aria-selected=true]`).waitFor()
  return (await page.locator('body').textContent()) ?? ''
}

/** A text as the page shows it: with what is hidden in it named. */
function asShown(text: string): string {
  return visibleText(text)
    .map((run) => run.text)
    .join('')
}

function timesIn(text: string, part: string): number {
  return text.split(part).length - 1
}

// No page of ours has any of these.
const FOREIGN = new Set('iframe object embed img video audio math base style marquee'.split(' '))

async function expectHarmless(watched: WatchedPage, url: string): Promise<void> {
  expect(watched.pwned).toEqual([])
  expect(await watched.violations()).toEqual([])
  expect(watched.requests.filter((address) => !address.startsWith(`${url}/`))).toEqual([])
  // Logs that no chart has written cannot be compared, and the browser notes the answer that says so.
  expect(watched.errors.filter((text) => !text.startsWith('Failed to load resource'))).toEqual([])
  const made = await watched.page.evaluate(() =>
    [...Reflect.get(globalThis, 'document').querySelectorAll('*')].map((element) =>
      String(element.localName),
    ),
  )
  expect(made.filter((name) => FOREIGN.has(name))).toEqual([])
  expect(made.filter((name) => name === 'script')).toHaveLength(1)
}

/** Runs in the page, which then makes elements of all that it shows. */
function takeTextForMarkup(): void {
  const page = Reflect.get(globalThis, 'document')
  page.createTextNode = (text: string) => {
    const element = page.createElement('span')
    element.innerHTML = text
    return element
  }
}
