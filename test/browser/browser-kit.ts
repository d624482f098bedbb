import type { BrowserContextOptions } from 'playwright-core'
import { onTestFinished, type TestContext } from 'vitest'

import type { SqliteStore } from '../../src/journal/open-store.ts'
import type { Agent } from '../../src/loop/agent.ts'
import { createService, type Service } from '../../src/server/create-service.ts'
import { listen } from '../../src/server/listen.ts'
import { tempStore } from '../journal/store-kit.ts'
import { need } from '../need.ts'
import { READ_TOKEN, TOKEN } from '../server/service-kit.ts'
import { watchedPage, type WatchedPage } from './watched-page.ts'

/** A service that listens on loopback, with the page that `npm run build` made. */
export interface BrowserKit {
  readonly url: string
  readonly service: Service
  readonly store: SqliteStore
  /** Begins a run over HTTP and gives its id. */
  readonly start: (input?: string) => Promise<string>
  /** Sends a command over HTTP. */
  readonly send: (runId: string, command: string, body: object) => Promise<void>
  /** Opens the page with a token, at a run where one is named. */
  readonly open: (options?: OpenOptions) => Promise<WatchedPage>
}

interface OpenOptions extends BrowserContextOptions {
  readonly runId?: string
  readonly token?: string
  /** Where the page is; that of the service without it. */
  readonly at?: string
}

/** A service with the page, and a real browser to look at it. */
export async function browserKit(context: TestContext, made: Agent): Promise<BrowserKit> {
  need(context, 'chromium')
  need(context, 'build')
  const store = tempStore()
  const service = createService({
    agents: { default: made },
    store,
    auth: {
      tokens: [
        { token: TOKEN, scopes: ['approve'] },
        { token: READ_TOKEN, scopes: ['read'] },
      ],
    },
    limits: { requestsPerSecond: 10_000 },
  })
  const { url, close } = await listen(service)
  onTestFinished(close)
  const post = async (path: string, body: object): Promise<unknown> => {
    const answer = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    if (!answer.ok) throw new Error(`${path} was answered ${answer.status}: ${await answer.text()}`)
    return answer.json()
  }
  return {
    url,
    service,
    store,
    start: async (input = 'go') => {
      const { run_id: runId } = (await post('/runs', { input })) as { run_id: string }
      return runId
    },
    send: async (runId, command, body) => void (await post(`/runs/${runId}/${command}`, body)),
    open: async ({ runId, token = TOKEN, at = url, ...options } = {}) => {
      const watched = await watchedPage(options)
      const run = runId === undefined ? '' : `&run=${encodeURIComponent(runId)}`
      await watched.page.goto(`${at}/inspect#token=${token}${run}`)
      return watched
    },
  }
}
