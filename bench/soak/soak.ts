// Many conversations at once for a long time, each ending after some tens of messages and making room for the next, so
// that by design nothing grows: not the memory, not the file, not what is open.
import { getEventListeners } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { openStore, type SqliteStore } from '../../src/journal/open-store.ts'
import { Alarms } from './alarms.ts'
import type { SoakOptions } from './parse-options.ts'
import { startProvider } from './start-provider.ts'
import { Random } from './random.ts'
import { Sampler, type Sample } from './sampler.ts'
import { soakWays } from './soak-agents.ts'
import { Talker, type SoakHall } from './talker.ts'
import { Tally } from './tally.ts'
import type { Measured } from './verdicts.ts'

/** What a soak came to. */
export interface Soaked {
  readonly measured: Measured
  readonly tally: Tally
  readonly alarms: readonly string[]
}

const SAMPLE_MS = 2_000
// The store is at it until all are gone, about a millisecond for each, and nobody else has their turn.
const PRUNE_MS = 15_000
// Of the last frame. Longer than any conversation rests or is closed for.
const KEPT_MS = 60_000
// The slowest messages wait for silence three times.
const WIND_DOWN_MS = 60_000
const MS_PER_MINUTE = 60_000

/** Runs a soak. `stop` ends it early; what was under way is seen to its end all the same. */
export async function soak(
  options: SoakOptions,
  stop: AbortSignal,
  onSample: (sample: Sample) => void,
): Promise<Soaked> {
  const folder = mkdtempSync(join(tmpdir(), 'loopchart-soak-'))
  const provider = await startProvider()
  const store = openStore(join(folder, 'runs.db'))
  const alarms = new Alarms()
  try {
    const tally = new Tally()
    const measured = await soakIn(options, { url: provider.url, store, tally, alarms, stop, onSample })
    return { measured, tally, alarms: alarms.all }
  } finally {
    alarms.stop()
    store.close()
    provider.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

interface SoakPlace {
  readonly url: string
  readonly store: SqliteStore
  readonly tally: Tally
  readonly alarms: Alarms
  readonly stop: AbortSignal
  readonly onSample: (sample: Sample) => void
}

async function soakIn(options: SoakOptions, place: SoakPlace): Promise<Measured> {
  const { url, store, tally, alarms, stop } = place
  const { conversations, pauseMs, seed } = options
  const over = new AbortController()
  const lasting = new AbortController()
  let left = options.messages ?? Number.POSITIVE_INFINITY
  const hall: SoakHall = {
    ways: soakWays(url),
    store,
    tally,
    lasting: lasting.signal,
    over: over.signal,
    pauseMs,
    take: () => {
      left -= 1
      if (left < 0) over.abort()
      return left >= 0
    },
  }
  const onStop = (): void => over.abort()
  if (stop.aborted) onStop()
  else stop.addEventListener('abort', onStop, { once: true })
  const sampler = new Sampler({ storePath: store.path, lasting: lasting.signal, tally })
  sampler.start()
  const talkers = Array.from({ length: conversations }, (_, at) =>
    new Talker(at, hall, new Random(seed * 100_003 + at)).talk(),
  )
  const samples = await watch(options.minutes * MS_PER_MINUTE, sampler, over.signal, place)
  const { half: delay } = sampler
  sampler.stop()
  over.abort()
  await ended(talkers, tally)
  return {
    samples,
    delay,
    answered: tally.answered,
    unexpected: tally.unexpectedCount,
    hangs: tally.hangs,
    alarms: alarms.all.length,
    listenersLeft: getEventListeners(lasting.signal, 'abort').length,
  }
}

/** Looks at the process every few seconds, and removes old runs now and then, until the time is up. */
async function watch(
  totalMs: number,
  sampler: Sampler,
  over: AbortSignal,
  { store, tally, onSample }: SoakPlace,
): Promise<readonly Sample[]> {
  const samples: Sample[] = []
  let isHalf = false
  let prunedMs = 0
  for (let atMs = 0; atMs < totalMs && !over.aborted;) {
    await sleep(Math.min(SAMPLE_MS, totalMs - atMs), null, { signal: over }).catch(() => undefined)
    const sample = sampler.take()
    atMs = sample.atMs
    samples.push(sample)
    onSample(sample)
    if (!isHalf && atMs >= totalMs / 2) {
      isHalf = true
      sampler.beginHalf()
    }
    if (atMs - prunedMs >= PRUNE_MS) {
      prunedMs = atMs
      prune(store, tally)
    }
  }
  return samples
}

function prune(store: SqliteStore, tally: Tally): void {
  const startMs = performance.now()
  tally.pruned += store.prune({ olderThanMs: KEPT_MS, keepFailed: false }).length
  tally.prunedSlowestMs = Math.max(tally.prunedSlowestMs, performance.now() - startMs)
}

async function ended(talkers: readonly Promise<void>[], tally: Tally): Promise<void> {
  const timer = new AbortController()
  const late = sleep(WIND_DOWN_MS, 'late' as const, { signal: timer.signal }).catch(() => null)
  const all = Promise.all(talkers).then(() => null)
  if ((await Promise.race([all, late])) === 'late') tally.hang('some conversations did not end')
  timer.abort()
}
