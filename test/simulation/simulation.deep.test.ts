import { expect, test } from 'vitest'

import { runSeeds } from './run-seeds.ts'

const BOX_MS = 60_000
const SEEDS_MIN = 2000
const SEEDS_AT_ONCE = 100

test('in 60 seconds at least 2,000 simulated runs keep every promise and replay identically', async () => {
  const startMs = performance.now()
  const broken: string[] = []
  let seeds = 0
  // A machine that is too slow for the box still does the least that counts.
  while (seeds < SEEDS_MIN || performance.now() - startMs < BOX_MS) {
    const result = await runSeeds(1_000_000 + seeds, SEEDS_AT_ONCE)
    broken.push(...result.broken)
    seeds += result.seeds
    if (process.env['SEED'] !== undefined) break
  }
  console.log(`${seeds} seeds in ${Math.round((performance.now() - startMs) / 1000)} s`)
  expect(broken, 'set SEED to the number of one to see it again').toEqual([])
})
