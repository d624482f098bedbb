// `npm run soak`: 30 minutes of 200 conversations against a provider on this machine, with all that goes wrong. Prints a
// table and exits 1 when a limit is missed. `-- --minutes 5` is shorter; Ctrl-C ends it with what there is. The heap has a
// bound, as that of a service has: without one the collector lets garbage lie for as long as the machine has room, and
// what it holds back grows in steps that look like a leak for many minutes.
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

import { parseOptions } from './parse-options.ts'
import { soakReport } from './report.ts'
import type { Sample } from './sampler.ts'
import { soak } from './soak.ts'
import { areMet, verdictsOf } from './verdicts.ts'

const options = parseOptions(process.argv.slice(2))
const stop = new AbortController()
process.on('SIGINT', () => {
  // The second one is meant.
  if (stop.signal.aborted) process.exit(130)
  stop.abort()
})

const SHOWN_EVERY_MS = 60_000
let shownMs = 0

console.error(
  `${options.conversations} conversations for ${options.minutes} minutes; Ctrl-C ends it with what there is`,
)
const soaked = await soak(options, stop.signal, (sample) => {
  if (sample.atMs - shownMs < SHOWN_EVERY_MS) return
  shownMs = sample.atMs
  console.error(progressOf(sample))
})
const verdicts = verdictsOf(soaked.measured)
console.log(soakReport(options, soaked, verdicts))
mkdirSync(dirname(options.out), { recursive: true })
writeFileSync(options.out, `${JSON.stringify({ options, verdicts, ...soaked }, null, 1)}\n`)
// Not by waiting for what is left: after a hang there is something left.
process.exit(areMet(verdicts) ? 0 : 1)

function progressOf({ atMs, rssMb, heapMb, cpuShare, unexpected }: Sample): string {
  const minutes = (atMs / 60_000).toFixed(1)
  const heap = heapMb === null ? '' : `, heap ${heapMb.toFixed(0)} MB`
  return `${minutes} min: RSS ${rssMb.toFixed(0)} MB${heap}, ${(cpuShare * 100).toFixed(0)} % of a core, ${unexpected} faults`
}
