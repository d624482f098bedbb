import type { Browser } from 'playwright-core'

import { launchChromium } from '../scripts/screenshots/launch-chromium.ts'
import type { Figure } from './decode.ts'
import { median } from './measure.ts'

const TIMES = 3
const WAIT_MS = 60_000

/**
 * How long the page takes, from when it is opened until a whole log is read and its state is shown. Null where there is
 * no browser to measure it with.
 */
export async function pageFigure(url: string, runId: string, token: string): Promise<Figure | null> {
  const browser = await launchChromium()
  if (browser === null) return null
  try {
    const last = await lastFrame(url, runId, token)
    const times: number[] = []
    for (let time = 0; time < TIMES; time += 1) {
      times.push(await openedMs(browser, `${url}/inspect#token=${token}&run=${runId}`, last))
    }
    return {
      id: 'page_ready_ms',
      value: median(times),
      unit: 'ms',
      budget: 2_000,
      about: `a new browser profile, from the address to the state of a run of ${last + 1} frames, median of ${TIMES}`,
    }
  } finally {
    await browser.close()
  }
}

async function lastFrame(url: string, runId: string, token: string): Promise<number> {
  const answer = await fetch(`${url}/runs/${runId}`, { headers: { authorization: `Bearer ${token}` } })
  const { last_seq: last } = (await answer.json()) as { last_seq: number }
  return last
}

async function openedMs(browser: Browser, address: string, last: number): Promise<number> {
  const context = await browser.newContext()
  try {
    const page = await context.newPage()
    const start = performance.now()
    await page.goto(address)
    await page.waitForSelector(
      `.run-view:has(.run-header .state-pill):has([role=slider][aria-valuemax="${last}"])`,
      { timeout: WAIT_MS },
    )
    return performance.now() - start
  } finally {
    await context.close()
  }
}
