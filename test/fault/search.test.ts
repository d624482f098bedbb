import { symlinkSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'

import { expect, onTestFinished, test } from 'vitest'

import { grepIn, grepText, makeFolder, writeTree } from '../tools/search/grep-in.ts'

// As V8's own engine needs ages for: 30 characters block it for half a minute.
const HOSTILE = [
  '(a+)+$',
  '(a*)*$',
  '(a|a)*$',
  '(a|aa)+$',
  '^(([a-z])+.)+[A-Z]([a-z])+$',
  '(.*a){12}$',
  '(?:(?:a?){30}a{30})+$',
  'a{0,400}a{0,400}$',
  '[ab]{0,499}a[ab]{0,499}$',
  '(?i)(a+)+$',
  String.raw`(\w+\s?)+\d$`,
]

test.for(
  HOSTILE.flatMap((pattern) => (['auto', 're2js'] as const).map((engine) => [pattern, engine] as const)),
)('fault T18: %s on long lines of a is an ordinary search with the engine %s', async ([pattern, engine]) => {
  const folder = makeFolder()
  const lines = [`${'a'.repeat(30)}!`, `${'a'.repeat(60_000)}!`, `${'ab'.repeat(30_000)}!`, 'aaa']
  writeTree(folder, { 'a.txt': `${lines.join('\n')}\n` })
  const delay = monitorEventLoopDelay({ resolution: 10 })
  delay.enable()
  onTestFinished(() => void delay.disable())
  const text = await grepText(folder, { pattern }, engine)
  delay.disable()
  expect(text).not.toMatch(/^(?:pattern_invalid|search_failed)/)
  expect(delay.max / 1e6).toBeLessThan(2500)
})

test('fault T18: a search of 100,000 lines in this process lets others have their turn', async () => {
  const folder = makeFolder()
  writeTree(folder, {
    'a.txt': Array.from({ length: 100_000 }, (_, at) => `line ${at} of a file`).join('\n'),
  })
  const started = performance.now()
  let last = started
  let longest = 0
  const tick = (): void => {
    longest = Math.max(longest, performance.now() - last)
    last = performance.now()
  }
  const timer = setInterval(tick, 1)
  onTestFinished(() => clearInterval(timer))
  const { artifacts } = await grepIn(folder, { pattern: String.raw`\d+ of` }, 're2js')
  tick()
  expect(artifacts[0]).toMatchObject({ found: 100_000 })
  // In proportion: how long it takes is up to the machine.
  expect(longest).toBeLessThan((last - started) / 2)
})

test('fault T18: a search in this process stops when it is aborted', async () => {
  const folder = makeFolder()
  writeTree(folder, { 'a.txt': 'a line that does not match at all\n'.repeat(100_000) })
  const controller = new AbortController()
  const searching = grepIn(folder, { pattern: '(?:[a-z ]*x?){50}!$' }, 're2js', controller.signal)
  setImmediate(() => controller.abort())
  await expect(searching).rejects.toMatchObject({ code: 'tool_cancelled' })
})

test.for(['auto', 're2js'] as const)(
  'fault T12: a folder that is swapped for a link all the time leaks no line from outside, with the engine %s',
  { timeout: 30_000 },
  async (engine) => {
    const folder = makeFolder()
    const outside = makeFolder()
    for (const at of [0, 1, 2, 3, 4, 5, 6, 7]) {
      writeTree(folder, { [`swapped/${at}.txt`]: 'needle inside\n' })
      writeTree(outside, { [`${at}.txt`]: 'needle outside\n' })
    }
    // Two places: one that is the folder, and one that is the link, exchanged over and over.
    symlinkSync(outside, join(folder, '.link'))
    const worker = new Worker(SWAP, { eval: true, workerData: { folder } })
    onTestFinished(() => void worker.terminate())
    await new Promise((resolve) => {
      worker.once('message', resolve)
    })
    let inside = 0
    for (let time = 0; time < 150; time += 1) {
      const text = await grepText(folder, { pattern: 'needle' }, engine)
      expect(text).not.toContain('outside')
      if (text.includes('inside')) inside += 1
    }
    expect(inside).toBeGreaterThan(0)
  },
)

const SWAP = `
  const { renameSync } = require('node:fs')
  const { parentPort, workerData: { folder } } = require('node:worker_threads')
  parentPort.postMessage('started')
  for (;;) {
    renameSync(folder + '/swapped', folder + '/.real')
    renameSync(folder + '/.link', folder + '/swapped')
    renameSync(folder + '/swapped', folder + '/.link')
    renameSync(folder + '/.real', folder + '/swapped')
  }
`
