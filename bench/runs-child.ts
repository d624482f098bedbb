// A process of its own for the memory of many runs at once. Prints JSON.
import { runMany } from './loop.ts'

const MIB = 1024 * 1024

await runMany(5)
globalThis.gc?.()
const before = process.memoryUsage.rss()
let peak = before
const timer = setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss())), 2)
await runMany(500)
peak = Math.max(peak, process.resourceUsage().maxRSS * 1024)
clearInterval(timer)
process.stdout.write(`${JSON.stringify({ riseMiB: (peak - before) / MIB })}\n`)
