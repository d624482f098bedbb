import type { Locator, Page } from 'playwright-core'

/** The line below a run that shows its place and moves it. */
export function sliderOf(page: Page): Locator {
  return page.getByRole('slider', { name: 'Place in the run' })
}

/** Waits until the cursor is on a frame. */
export async function waitAt(page: Page, seq: number): Promise<void> {
  await page.locator(`[role=slider][aria-valuenow="${seq}"]`).waitFor()
}

/** Waits until the run is in a state, at the cursor. */
export async function waitForState(page: Page, state: string): Promise<void> {
  await page.locator(`.run-header .state-pill[title="${state}"]`).waitFor()
}

/** Waits until every frame of a log is there, and the run is at the last. */
export async function waitForAll(page: Page, frames: readonly unknown[]): Promise<void> {
  const last = frames.length - 1
  await page.locator(`[role=slider][aria-valuemax="${last}"]`).waitFor()
}

/** The state at the cursor; empty where none is shown. */
export async function shownState(page: Page): Promise<string> {
  const titles = await page
    .locator('.run-header .state-pill')
    .evaluateAll((pills) => pills.map((pill) => String(Reflect.get(pill, 'title'))))
  return titles[0] ?? ''
}

/** The names of the tabs, in their order. */
export function tabNames(page: Page): Promise<readonly string[]> {
  return page
    .getByRole('tab')
    .evaluateAll((tabs) => tabs.map((tab) => String(Reflect.get(tab, 'textContent'))))
}

/** Opens a tab by its name, and waits until it is shown. */
export async function openTab(page: Page, name: string): Promise<void> {
  const tab = page.getByRole('tab', { name })
  await tab.click()
  await page.locator(`[role=tab][aria-selected=true]`, { hasText: name }).waitFor()
}
