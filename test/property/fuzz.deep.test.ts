import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

import { expect, test } from 'vitest'

const STREAMS = 100_000
// Far above what 500 streams take on a slow machine; only a hang comes this far.
const SILENCE_MAX_MS = 120_000

test('100,000 mutated streams neither crash nor hang the decoder, and memory stays flat', async () => {
  const { last, code } = await fuzz(1_000_000, STREAMS)
  expect(code, `the process ended after: ${last}`).toBe(0)
  const result = JSON.parse(last) as Record<string, number>
  console.log(`fuzz: ${last}`)
  expect(result['count']).toBe(STREAMS)
  expect(result['slowestMs']).toBeLessThan(1000)
  expect(result['heapGrowthMiB']).toBeLessThan(8)
  expect(result['peakRssMiB']).toBeLessThan(300)
})

/** Runs the fuzz in a process and gives its last line; a process that says nothing for long is ended. */
async function fuzz(first: number, count: number): Promise<{ last: string; code: number | null }> {
  const script = fileURLToPath(new URL('fuzz-child.ts', import.meta.url))
  // A leak runs into this ceiling long before the machine's own.
  const child = spawn(
    process.execPath,
    [
      '--expose-gc',
      '--max-old-space-size=96',
      '--max-semi-space-size=8',
      script,
      String(first),
      String(count),
    ],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  const closed = new Promise<number | null>((resolve) => child.once('close', resolve))
  let last = ''
  let watchdog = setTimeout(() => child.kill('SIGKILL'), SILENCE_MAX_MS)
  for await (const line of createInterface({ input: child.stdout })) {
    last = line
    clearTimeout(watchdog)
    watchdog = setTimeout(() => child.kill('SIGKILL'), SILENCE_MAX_MS)
  }
  clearTimeout(watchdog)
  return { last, code: await closed }
}
