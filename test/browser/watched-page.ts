import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, onTestFinished } from 'vitest'

import { launchChromium } from '../../scripts/screenshots/launch-chromium.ts'

/** A page with what it did besides showing something. */
export interface WatchedPage {
  readonly page: Page
  /** The address of every request. */
  readonly requests: readonly string[]
  /** Errors on the console and uncaught ones. */
  readonly errors: readonly string[]
  /** What a text that ran as script called, and every dialog. */
  readonly pwned: readonly string[]
  /** What the content security policy and Trusted Types forbade since the page was loaded. */
  readonly violations: () => Promise<readonly string[]>
}

let browser: Promise<Browser | null> | null = null

afterAll(async () => {
  await (await browser)?.close()
  browser = null
})

/** An empty page of a browser profile of its own, gone after the test. */
export async function watchedPage(options: BrowserContextOptions = {}): Promise<WatchedPage> {
  browser ??= launchChromium()
  const launched = await browser
  if (launched === null) throw new Error('there is no chromium')
  const context = await launched.newContext({ reducedMotion: 'reduce', ...options })
  onTestFinished(() => context.close())
  const page = await context.newPage()
  const requests: string[] = []
  const errors: string[] = []
  const pwned: string[] = []
  context.on('request', (request) => requests.push(request.url()))
  context.on('weberror', (error) => errors.push(error.error().message))
  context.on('console', (message) => message.type() === 'error' && errors.push(message.text()))
  context.on('page', (opened) => pwned.push(`a window: ${opened.url()}`))
  page.on('dialog', (dialog) => {
    pwned.push(`a dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  await context.exposeFunction('pwned', () => pwned.push('pwned() was called'))
  await context.addInitScript(noteViolations)
  const violations = (): Promise<readonly string[]> =>
    page.evaluate(() => Reflect.get(globalThis, 'violationsSeen') as string[])
  return { page, requests, errors, pwned, violations }
}

/** Runs in the page, before anything of it does. */
function noteViolations(): void {
  const seen: string[] = []
  Reflect.set(globalThis, 'violationsSeen', seen)
  Reflect.get(globalThis, 'addEventListener').call(
    globalThis,
    'securitypolicyviolation',
    (event: { violatedDirective: string; blockedURI: string }) =>
      seen.push(`${event.violatedDirective} ${event.blockedURI}`),
  )
}
