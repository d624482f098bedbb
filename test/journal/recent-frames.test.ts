import { expect, test } from 'vitest'

import { agent } from '../../src/agent.ts'
import { formatFrame } from '../../src/frames/format-frame.ts'
import { parseFrame } from '../../src/frames/parse-frame.ts'
import type { SqliteStore } from '../../src/journal/open-store.ts'
import type { LogOptions, RunStore } from '../../src/journal/run-store.ts'
import { startRun, type StartedRun, type StartOptions } from '../../src/loop/run.ts'
import { pair, ASK } from '../loop/subagent-kit.ts'
import { ManualClock } from '../manual-clock.ts'
import { ADD, callsAnswer, scriptedModel, streamAnswer, textAnswer, watchedTool } from '../scripted-model.ts'
import { beginLog, collect, tempStore, thrownBy } from './store-kit.ts'

const WORDS = Array.from({ length: 200 }, (_, at) => `word${at} `)

/** Two turns, the second with some hundred deltas. */
function startLong(options: StartOptions): StartedRun {
  const { tool: add } = watchedTool('add', () => 5)
  const long = streamAnswer(2, (stream) => stream.message(0, WORDS).end())
  const model = scriptedModel([callsAnswer(1, [ADD]), long])
  const made = agent({ model, tools: [add], clock: new ManualClock(), random: () => 0.5 })
  return startRun(made, 'go', { runId: 'run_1', ...options })
}

/** How many frames of a log can be taken without the store being looked into. */
function inMemory(live: StartedRun, store: SqliteStore): number {
  store.close()
  let from = live.log.length
  while (from > 0 && !live.log.cursor(from - 1).isBehind) from -= 1
  return live.log.length - from
}

/** The store, with what it was told about the logs of runs that were begun or taken up. */
function watched(store: RunStore, told: LogOptions[]): RunStore {
  return {
    create: (runId, clock, options) => (told.push({ ...options }), store.create(runId, clock, options)),
    take: (runId, clock, options) => (told.push({ ...options }), store.take(runId, clock, options)),
    read: (runId) => store.read(runId),
    cursor: (runId, from, clock) => store.cursor(runId, from, clock),
    list: () => store.list(),
    find: (runId) => store.find(runId),
    close: () => store.close(),
  }
}

test('a run that keeps 20 frames shows its readers all of them, and holds some 20', async () => {
  const store = tempStore()
  const live = startLong({ store, recentFrames: 20 })
  const shown = await collect(live)
  await live.result
  const stored = [...store.read('run_1')]
  expect(stored.length).toBeGreaterThan(400)
  expect(shown).toEqual(stored)
  expect(await collect(live.frames(7))).toEqual(stored.slice(7))
  expect((await collect(live.textStream())).join('')).toBe(WORDS.join(''))
  expect(live.log.length).toBe(stored.length)
  expect(inMemory(live, store)).toBeLessThanOrEqual(36)
})

test('a run keeps all of its frames where nothing is said, and where it has no store', async () => {
  const store = tempStore()
  const kept = startLong({ store })
  await kept.result
  const shown = await collect(kept)
  expect(inMemory(kept, store)).toBe(shown.length)
  const live = startLong({ recentFrames: 20 })
  await live.result
  expect(await collect(live)).toHaveLength(shown.length)
})

test('a run that is taken up keeps its latest frames too', async () => {
  const store = tempStore()
  const seen = (await collect(startLong({}))).slice(0, 300)
  store.importRun(seen.map(formatFrame))
  const model = scriptedModel([textAnswer(2, 'done')])
  const { tool: add } = watchedTool('add', () => 5)
  const again = agent({ model, tools: [add], clock: new ManualClock(), random: () => 0.5 })
  const live = startRun(again, { resume: 'run_1' }, { store, recentFrames: 20 })
  const shown = await collect(live)
  expect(await live.result).toMatchObject({ state: 'done' })
  expect(shown).toEqual([...store.read('run_1')])
  expect(shown.slice(0, seen.length)).toEqual(seen)
  expect(inMemory(live, store)).toBeLessThanOrEqual(36)
})

test('the runs of calls keep as few frames as the run that they are the work of', async () => {
  const told: LogOptions[] = []
  const store = watched(tempStore(), told)
  const made = pair([textAnswer(1, 'it is 42')], [callsAnswer(1, ASK), textAnswer(2, 'so 42')])
  const live = startRun(made.agent, 'go', { store, recentFrames: 8 })
  expect(await live.result).toMatchObject({ text: 'so 42' })
  expect(told).toEqual([{ recent: 8 }, { recent: 8 }])
})

test.for([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])(
  'recentFrames of %s is refused before the store is touched',
  (recentFrames) => {
    const store = tempStore()
    expect(thrownBy(() => startLong({ store, recentFrames }))).toMatchObject({ code: 'usage' })
    expect(store.list()).toEqual([])
  },
)

test('a run that a service began says of which agent and for which request, in its first frame', async () => {
  const store = tempStore()
  const service = { agent: 'helper', request_hash: 'abc' }
  const live = startLong({ store, service })
  await live.result
  const [first] = store.cursor('run_1', 0).take(1)
  expect(first).toMatchObject({ type: 'run_started', service })
  const alone = startLong({})
  await alone.result
  const [other] = alone.log.cursor(0).take(1)
  expect(other).not.toHaveProperty('service')
})

test('a first frame may lack what a service says, and may not have half of it', () => {
  const { started } = beginLog('run_1')
  const line = (service: unknown): string => JSON.stringify({ ...started, service })
  expect(parseFrame(JSON.stringify(started))).toEqual(started)
  expect(() => parseFrame(line({ agent: 'helper', request_hash: 'abc' }))).not.toThrow()
  expect(thrownBy(() => parseFrame(line({ agent: 'helper' })))).toMatchObject({ code: 'frame_invalid' })
})
