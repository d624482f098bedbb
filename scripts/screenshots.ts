// npm run screenshots: takes the pictures of docs/images, of the page as `npm run build` made it. Needs chromium.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { z } from 'zod'

import { openStore, type SqliteStore } from '../src/journal/open-store.ts'
import { run } from '../src/loop/run.ts'
import { createService } from '../src/server/create-service.ts'
import { listen } from '../src/server/listen.ts'
import { SimulatedClock } from '../src/testing/simulated-clock.ts'
import type { StreamBuilder } from './fixtures/stream-builder.ts'
import { fixingAgent, sayingAgent, TASK, words } from './screenshots/fixing-agent.ts'
import { launchChromium } from './screenshots/launch-chromium.ts'
import type { PacedAnswer } from './screenshots/paced-model.ts'
import { palettePng } from './screenshots/palette-png.ts'
import { readPng } from './screenshots/read-png.ts'

const TOKEN = 'a-token-for-pictures-alone'
// The pictures are the same whenever they are taken.
const START_MS = Date.UTC(2026, 0, 12, 9, 30)
const WIDE = { width: 1280, height: 800 }
const NARROW = { width: 390, height: 844 }
const SHOWN_AFTER_MS = 42_000

const images = new URL('../docs/images/', import.meta.url)
const folder = mkdtempSync(join(tmpdir(), 'loopchart-screenshots-'))
const store = openStore(join(folder, 'runs.db'))
const clock = new SimulatedClock(START_MS)
const browser = await launchChromium()
if (browser === null) throw new Error('there is no chromium: install it with `apt-get install chromium`')
mkdirSync(images, { recursive: true })
await makeOldRuns(store)
const service = createService({
  agents: { fixer: fixingAgent(clock) },
  store,
  auth: { tokens: [{ token: TOKEN, scopes: ['approve'] }] },
})
const { url, close } = await listen(service)
try {
  const runId = await startRun()
  await takeAll(browser, runId)
} finally {
  await browser.close()
  await close()
  store.close()
  rmSync(folder, { recursive: true })
}

async function takeAll(opened: Browser, runId: string): Promise<void> {
  const asking = '.run-header .state-pill[title="working.executing.awaitingApproval"]'
  const question = '.card-question'
  await take(opened, 'inspector-run', { viewport: WIDE }, `#token=${TOKEN}&run=${runId}`, async (page) => {
    await page.waitForSelector(asking)
    await page.getByRole('tab', { name: 'Conversation' }).click()
  })
  await take(
    opened,
    'inspector-run-dark',
    { viewport: WIDE, colorScheme: 'dark' },
    `#token=${TOKEN}&run=${runId}`,
    async (page) => {
      await page.waitForSelector(asking)
      await page.getByRole('button', { name: 'Waits for you' }).click()
      await page.waitForSelector(question)
    },
  )
  await take(opened, 'inspector-list', { viewport: WIDE }, `#token=${TOKEN}`, async (page) => {
    await page.getByRole('link', { name: runId }).waitFor()
  })
  await take(
    opened,
    'inspector-narrow',
    { viewport: NARROW },
    `#token=${TOKEN}&run=${runId}`,
    async (page) => {
      await page.waitForSelector(asking)
      await page.getByRole('tab', { name: 'Chart' }).click()
      await page.getByRole('button', { name: 'Follow', exact: true }).first().click()
    },
  )
}

async function take(
  opened: Browser,
  name: string,
  options: BrowserContextOptions,
  fragment: string,
  prepare: (page: Page) => Promise<void>,
): Promise<void> {
  const context = await opened.newContext({ reducedMotion: 'reduce', ...options })
  const page = await context.newPage()
  await page.clock.setFixedTime(clock.now() + SHOWN_AFTER_MS)
  await page.goto(`${url}/inspect${fragment}`)
  await prepare(page)
  const png = await page.screenshot({ animations: 'disabled', caret: 'hide' })
  writeFileSync(new URL(`${name}.png`, images), palettePng(readPng(png)))
  await context.close()
}

async function startRun(): Promise<string> {
  const answer = await fetch(`${url}/runs`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${TOKEN}`,
      'content-type': 'application/json',
      'idempotency-key': 'pictures',
    },
    body: JSON.stringify({ agent: 'fixer', input: TASK }),
  })
  return z.object({ run_id: z.string() }).parse(await answer.json()).run_id
}

/** What the list shows besides: runs that ended in each way. */
async function makeOldRuns(kept: SqliteStore): Promise<void> {
  const provider = {
    type: null,
    code: 'model_overloaded',
    message: 'overloaded',
    param: null,
    status: 503,
    headers: null,
  }
  const fault: PacedAnswer = {
    code: 'request_failed',
    message: 'overloaded',
    provider,
    isRetryable: false,
    retryAt: null,
  }
  const old: readonly (readonly [string, readonly PacedAnswer[]])[] = [
    [
      'release-notes-2026-01',
      [said('The notes are written, with nine changes and one that breaks something.')],
    ],
    ['flaky-cart-test', [testing, testing, testing, testing]],
    ['summarise-reviews', [fault]],
    ['rename-address-fields', [testing, said('All fields are renamed, and the tests pass.')]],
    ['why-is-the-build-slow', [testing, testing, said('Half of the time goes into one generated file.')]],
  ]
  for (const [runId, answers] of old) {
    await run(sayingAgent(clock, answers), 'Look into it.', { runId, store: kept }).result
    clock.advance(1_730_000)
  }
}

function said(text: string): PacedAnswer {
  return (stream) => stream.message(0, words(text)).end()
}

function testing(stream: StreamBuilder): StreamBuilder {
  return stream.call(0, 'run_tests', ['{"filter":"cart"}']).end()
}
