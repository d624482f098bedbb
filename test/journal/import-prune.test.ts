import { readFileSync, statSync } from 'node:fs'

import { expect, test } from 'vitest'

import { formatFrame } from '../../src/frames/format-frame.ts'
import type { Frame } from '../../src/frames/generated/frame.ts'
import type { SqliteStore } from '../../src/journal/open-store.ts'
import { parseJson } from '../../src/protocol/json.ts'
import { ManualClock } from '../manual-clock.ts'
import { endedFrame, sampleLog } from './sample-frames.ts'
import { beginLog, tempStore } from './store-kit.ts'

const clock = new ManualClock()
const DAY_MS = 86_400_000

function linesOf(frames: readonly Frame[]): readonly string[] {
  return frames.map(formatFrame)
}

test('a log that is exported and imported is the same log', () => {
  const [one, two] = [tempStore(), tempStore()]
  const lines = linesOf(sampleLog('run_1'))
  expect(one.importRun(lines)).toEqual({ runId: 'run_1', frames: lines.length, bytesDropped: 0 })
  expect(two.importRun(one.exportRun('run_1'))).toMatchObject({ frames: lines.length })
  expect([...two.exportRun('run_1')]).toEqual(lines)
  expect(two.list()).toEqual(one.list())
  expect(two.list()).toMatchObject([{ runId: 'run_1', status: 'ended', state: 'done', owner: null }])
})

test('an imported run that has not ended can be taken up', async () => {
  const store = tempStore()
  const frames = sampleLog('run_1')
  store.importRun(linesOf(frames.slice(0, 20)))
  const { journal } = store.take('run_1', clock)
  await journal.commit(frames.slice(20))
  expect([...store.read('run_1')]).toEqual(frames)
})

test('fault K06: a last line that was cut off is dropped, and the log says so', () => {
  const store = tempStore()
  const lines = linesOf(sampleLog('run_1').slice(0, 5))
  const cut = lines.at(-1)?.slice(0, 20) ?? ''
  const whole = lines.slice(0, -1)
  expect(store.importRun([...whole, cut])).toEqual({ runId: 'run_1', frames: 5, bytesDropped: 20 })
  const bytes = whole.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0)
  expect([...store.read('run_1')].at(-1)).toMatchObject({
    type: 'log_repaired',
    seq: 4,
    offset: bytes,
    bytes_dropped: 20,
  })
})

const LINES = linesOf(sampleLog('run_1'))
const OTHER = linesOf(sampleLog('run_2'))

/** A line with other numbers in it. */
function at(line: string | undefined, numbers: Readonly<Record<string, number>>): string {
  return JSON.stringify({ ...Object(parseJson(line ?? '')), ...numbers })
}

test.for<readonly [string, readonly string[], string]>([
  ['nothing at all', [], 'log_corrupt'],
  ['only blank lines', ['', ''], 'log_corrupt'],
  ['a bad line before the end', [...LINES.slice(0, 3), '{"v":1', ...LINES.slice(4)], 'log_corrupt'],
  ['a line that is missing', [...LINES.slice(0, 3), ...LINES.slice(4)], 'log_corrupt'],
  ['another run in between', [...LINES.slice(0, 3), ...OTHER.slice(3)], 'log_corrupt'],
  ['a beginning that is not the first', LINES.slice(1), 'log_corrupt'],
  ['a first time that no row can hold', [at(LINES[0], { ts: 1e300 })], 'log_corrupt'],
  [
    'a last time that no row can hold',
    [...LINES.slice(0, -1), at(LINES.at(-1), { ts: 2 ** 53 })],
    'log_corrupt',
  ],
  ['a turn that no row can hold', [LINES[0] ?? '', at(LINES[1], { turn: 1e21 })], 'log_corrupt'],
  ['more after the end', [...LINES, '{"v":1'], 'log_corrupt'],
  ['no version', ['{"run_id":"run_1","seq":0}'], 'frame_version_unknown'],
  ['a newer version', ['{"v":2,"run_id":"run_1","seq":0}'], 'frame_version_unknown'],
  ['no frame', ['{"v":1,"run_id":"run_1","seq":0,"ts":0,"type":"nonsense"}'], 'frame_invalid'],
])('a file with %s is not imported, not even in part', ([, lines, code]) => {
  const store = tempStore()
  expect(() => store.importRun(lines)).toThrow(expect.objectContaining({ code }))
  expect(store.list()).toEqual([])
})

test('the refusal of a time that no row can hold names its frame', () => {
  const lines = [...LINES.slice(0, 3), at(LINES[3], { ts: 1e300 })]
  expect(() => tempStore().importRun(lines)).toThrow(/^frame 3: its time or turn is too large/u)
})

test('a log with the largest time and turn that are safe is read back and listed', () => {
  const store = tempStore()
  const most = Number.MAX_SAFE_INTEGER
  const [started = '', entered] = LINES
  const lines = [
    at(started, { ts: 5 }),
    at(entered, { ts: 6 }),
    at(entered, { seq: 2, ts: most, turn: most }),
  ]
  store.importRun(lines)
  expect([...store.exportRun('run_1')]).toEqual(lines)
  expect(store.list()).toMatchObject([{ startedAt: 5, updatedAt: most, turn: most }])
})

test('a run is not imported over one that is there', () => {
  const store = tempStore()
  store.importRun(LINES)
  expect(() => store.importRun(LINES)).toThrow(expect.objectContaining({ code: 'run_exists' }))
  expect([...store.exportRun('run_1')]).toEqual(LINES)
})

/** A run that ended in a state, with all of its frames at one time. */
async function endedRun(store: SqliteStore, runId: string, state: 'done' | 'failed'): Promise<void> {
  const { stamp, started } = beginLog(runId)
  const journal = store.create(runId, clock)
  await journal.commit([started, endedFrame(stamp, state)])
  await journal.close()
}

test('old runs are removed, failed ones only when asked for, and owned ones never', async () => {
  const store = tempStore()
  await endedRun(store, 'done', 'done')
  await endedRun(store, 'failed', 'failed')
  const owned = store.create('owned', clock)
  await owned.commit([beginLog('owned').started])
  const open = store.create('open', clock)
  await open.commit([beginLog('open').started])
  await open.close()
  const at = { olderThanMs: 30 * DAY_MS, keepFailed: true }
  const nowMs = 1_000_000 + 30 * DAY_MS
  expect(store.prune({ ...at, nowMs })).toEqual([])
  expect(store.prune({ ...at, nowMs: nowMs + 1 })).toEqual(['done', 'open'])
  expect(store.prune({ ...at, keepFailed: false, nowMs: nowMs + 1 })).toEqual(['failed'])
  expect(store.list().map(({ runId }) => runId)).toEqual(['owned'])
  await owned.close()
  expect(store.prune({ ...at, nowMs: nowMs + 1 })).toEqual(['owned'])
})

test('a run that is removed takes its texts along, and leaves those that others have', () => {
  const store = tempStore()
  store.importRun(linesOf(sampleLog('run_1')))
  store.importRun(linesOf(sampleLog('run_2').map((frame) => ({ ...frame, ts: frame.ts + DAY_MS }))))
  const before = statSync(store.path).size
  expect(store.prune({ olderThanMs: DAY_MS, keepFailed: false, nowMs: 1_500_000 + DAY_MS })).toEqual([
    'run_1',
  ])
  expect([...store.read('run_2')]).toHaveLength(sampleLog('run_2').length)
  expect(store.prune({ olderThanMs: 0, keepFailed: false })).toEqual(['run_2'])
  expect(statSync(store.path).size).toBeLessThan(Math.max(before, 80_000))
  expect(readFileSync(store.path).includes('large text')).toBe(false)
})

test('a reader of a run that is removed is told so', () => {
  const store = tempStore()
  store.importRun(LINES)
  const reader = store.read('run_1')[Symbol.iterator]()
  reader.next()
  store.prune({ olderThanMs: 0, keepFailed: false })
  expect(() => {
    while (reader.next().done !== true);
  }).toThrow(expect.objectContaining({ code: 'run_unknown' }))
})
