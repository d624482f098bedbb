// A process of its own for the long fuzz: one that hangs can be ended, and its memory is its own.
// Prints the seed it is about to try every so often, and one line of JSON at the end.
import { fuzzStream } from './fuzz-stream.ts'

const [first = 0, count = 0] = process.argv.slice(2).map(Number)
const MIB = 1024 * 1024

let slowestMs = 0
let heapAfterWarmUp = 0
for (let seed = first; seed < first + count; seed += 1) {
  if (seed % 500 === 0) process.stdout.write(`seed ${seed}\n`)
  if (seed === first + Math.floor(count / 5)) heapAfterWarmUp = heapUsed()
  const before = process.cpuUsage()
  try {
    fuzzStream(seed)
  } catch (cause) {
    throw new Error(`seed ${seed}`, { cause })
  }
  const { user, system } = process.cpuUsage(before)
  slowestMs = Math.max(slowestMs, (user + system) / 1000)
}
const heapGrowthMiB = (heapUsed() - heapAfterWarmUp) / MIB
const peakRssMiB = process.resourceUsage().maxRSS / 1024
process.stdout.write(`${JSON.stringify({ count, slowestMs, heapGrowthMiB, peakRssMiB })}\n`)

function heapUsed(): number {
  globalThis.gc?.()
  return process.memoryUsage().heapUsed
}
