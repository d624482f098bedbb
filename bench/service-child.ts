// The service of the bench, in a process of its own, so that only it is measured. Speaks with its parent by messages:
// says where it listens and which run has a long log; `measure` begins anew, `report` answers with what was since then.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'

import { agent } from '../src/agent.ts'
import { openStore } from '../src/journal/open-store.ts'
import { run } from '../src/loop/run.ts'
import { openResponses } from '../src/provider/open-responses.ts'
import { createService } from '../src/server/create-service.ts'
import { listen } from '../src/server/listen.ts'
import { benchModel } from './bench-model.ts'
import { cutAtEvents, deltaStream } from './streams.ts'

const [provider = '', token = ''] = process.argv.slice(2)
const MIB = 1024 * 1024
const NS_PER_MS = 1e6

// Two frames each.
const LONG_DELTAS = 10_000

const folder = mkdtempSync(join(tmpdir(), 'loopchart-bench-'))
const store = openStore(join(folder, 'runs.db'))
const model = openResponses({ model: 'bench', baseUrl: provider, apiKey: 'none' })
const service = createService({
  agents: { default: agent({ model }) },
  store,
  auth: { tokens: [{ token, scopes: ['read', 'run', 'approve'] }] },
  limits: { runs: 2_000, streams: 2_000, requestsPerSecond: 10_000 },
})
const long = run(agent({ model: benchModel(() => cutAtEvents(deltaStream(LONG_DELTAS))) }), 'Go on.', {
  store,
})
await long.result
const { url, close } = await listen(service)

const delay = monitorEventLoopDelay({ resolution: 5 })
delay.enable()
let peak = 0
const sampler = setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss())), 100)

process.on('message', (asked: string) => {
  if (asked === 'measure') {
    globalThis.gc?.()
    const { rss, heapUsed, external } = process.memoryUsage()
    delay.reset()
    peak = rss
    process.send?.({ heldMiB: (heapUsed + external) / MIB })
  } else if (asked === 'report') {
    const delayMs = { p99: delay.percentile(99) / NS_PER_MS, max: delay.max / NS_PER_MS }
    process.send?.({ peakMiB: Math.max(peak, process.memoryUsage.rss()) / MIB, delayMs })
  } else {
    clearInterval(sampler)
    void stop()
  }
})
process.send?.({ url, longRun: long.id })

async function stop(): Promise<void> {
  await close()
  store.close()
  rmSync(folder, { recursive: true })
  process.disconnect()
}
