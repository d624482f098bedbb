import { DatabaseSync } from 'node:sqlite'

import { expect, test, vi } from 'vitest'

import type { Frame } from '../../src/frames/generated/frame.ts'
import { formatFrame } from '../../src/frames/format-frame.ts'
import type { FrameCursor } from '../../src/journal/frame-cursor.ts'
import type { SqliteStore } from '../../src/journal/open-store.ts'
import { ManualClock } from '../manual-clock.ts'
import { everythingElse } from '../scripted-model.ts'
import { deltaFrame, endedFrame, sampleLog } from './sample-frames.ts'
import { beginLog, openedStore, StoreProcess, tempStore, thrownBy } from './store-kit.ts'

// Real processes and files, on machines that may be busy.
vi.setConfig({ testTimeout: 60_000 })

/** Takes until nothing is left. */
function drain(cursor: FrameCursor, maxFrames = 1000, maxChars?: number): readonly Frame[] {
  const all: Frame[] = []
  for (;;) {
    const taken = cursor.take(maxFrames, maxChars)
    all.push(...taken)
    if (taken.length === 0 && !cursor.isBehind) return all
  }
}

/** A stored run of so many frames, in rows of one hundred. */
async function storeLong(store: SqliteStore, count: number): Promise<readonly Frame[]> {
  const { stamp, started } = beginLog('run_1')
  const frames = [started, ...Array.from({ length: count - 1 }, (_, at) => deltaFrame(stamp, `word ${at}`))]
  const journal = store.create('run_1', new ManualClock())
  for (let at = 0; at < count; at += 100) await journal.commit(frames.slice(at, at + 100))
  await journal.close()
  return frames
}

test('a cursor gives what a reader of the whole log gets, whatever it takes at a time', () => {
  const store = tempStore()
  const frames = sampleLog('run_1')
  store.importRun(frames.map(formatFrame))
  for (const [maxFrames, maxChars] of [[1], [3], [1000], [1000, 1], [1000, 100_000]] as const) {
    expect(drain(store.cursor('run_1', 0), maxFrames, maxChars)).toEqual(frames)
  }
  for (const from of [1, 20, frames.length - 1]) {
    expect(drain(store.cursor('run_1', from))).toEqual(frames.slice(from))
  }
})

test('a cursor gives no more characters than it was asked for, but for one frame that has more', () => {
  const store = tempStore()
  const frames = sampleLog('run_1')
  store.importRun(frames.map(formatFrame))
  const cursor = store.cursor('run_1', 0)
  for (let taken = cursor.take(1000, 2000); taken.length > 0; taken = cursor.take(1000, 2000)) {
    const chars = taken.map((frame) => formatFrame(frame).length).reduce((sum, one) => sum + one, 0)
    expect(taken.length === 1 || chars < 3000).toBe(true)
    expect(cursor.at).toBe((taken.at(-1)?.seq ?? 0) + 1)
  }
  expect(cursor.at).toBe(frames.length)
})

test('going to a frame far on reads at most 2,000 a take, and gives nothing until it is there', async () => {
  const store = tempStore()
  const frames = await storeLong(store, 9000)
  const cursor = store.cursor('run_1', 8990)
  let takes = 0
  let taken: readonly Frame[] = []
  while (taken.length === 0) {
    expect(cursor.isBehind).toBe(true)
    expect(cursor.at).toBe(8990)
    taken = cursor.take(1000)
    takes += 1
  }
  expect(taken).toEqual(frames.slice(8990))
  expect(takes).toBeGreaterThanOrEqual(5)
  expect(cursor.isBehind).toBe(false)
})

test('one take does not read a log as a whole, however much it is asked for', async () => {
  const store = tempStore()
  await storeLong(store, 9000)
  const cursor = store.cursor('run_1', 0)
  expect(cursor.take(9000).length).toBeLessThanOrEqual(2000)
  expect(cursor.isBehind).toBe(true)
  await cursor.changed()
  expect(cursor.take(9000).length).toBeGreaterThan(0)
})

test('a cursor follows a log that another process appends to', async () => {
  const store = tempStore()
  const other = new StoreProcess(store.path)
  await other.ask({ ask: 'create', runId: 'run_1' })
  await other.ask({ ask: 'append', runId: 'run_1', frames: 5 })
  const cursor = store.cursor('run_1', 0)
  const first = drain(cursor)
  expect(cursor.take(10)).toEqual([])
  await other.ask({ ask: 'append', runId: 'run_1', frames: 3 })
  const second = drain(cursor)
  expect(second).toHaveLength(3)
  expect([...first, ...second]).toEqual([...store.read('run_1')])
})

test('who waits for a stored log looks at it after a second of the clock, and not before', async () => {
  const store = tempStore()
  await storeLong(store, 3)
  const clock = new ManualClock()
  const cursor = store.cursor('run_1', 3, clock)
  drain(cursor)
  let wakes = 0
  const waiting = [cursor.changed(), cursor.changed()].map((changed) => changed.then(() => (wakes += 1)))
  expect(clock.timersArmed).toBe(1)
  clock.advance(999)
  await everythingElse()
  expect(wakes).toBe(0)
  clock.advance(1)
  await Promise.all(waiting)
  expect(wakes).toBe(2)
  const closed = cursor.changed()
  cursor.close()
  await closed
  expect(clock.timersArmed).toBe(0)
  expect(cursor.isEnded).toBe(true)
  expect(cursor.take(10)).toEqual([])
})

test('a cursor has ended when it gave the last frame of a run that has, and not where one was let go of', async () => {
  const store = tempStore()
  const { stamp, started } = beginLog('run_1')
  const journal = store.create('run_1', new ManualClock())
  await journal.commit([started])
  await journal.close()
  const cursor = openedStore(store.path).cursor('run_1', 0)
  expect(cursor.take(10)).toEqual([started])
  expect(cursor.isEnded).toBe(false)
  const taken = store.take('run_1', new ManualClock())
  await taken.journal.commit([deltaFrame(stamp, 'a'), endedFrame(stamp, 'done')])
  expect(cursor.take(1)).toHaveLength(1)
  expect(cursor.isEnded).toBe(false)
  expect(cursor.take(1)).toHaveLength(1)
  expect(cursor.isEnded).toBe(true)
  await cursor.changed()
  const beyond = store.cursor('run_1', 50)
  expect([beyond.isEnded, beyond.isBehind, beyond.take(10)]).toEqual([true, false, []])
})

test('a cursor that is ahead of an open log gives its frame when it comes', async () => {
  const store = tempStore()
  const { stamp, started } = beginLog('run_1')
  const journal = store.create('run_1', new ManualClock())
  await journal.commit([started])
  const cursor = store.cursor('run_1', 2)
  expect(drain(cursor)).toEqual([])
  const [second, third] = [deltaFrame(stamp, 'a'), deltaFrame(stamp, 'b')]
  await journal.commit([second])
  expect(drain(cursor)).toEqual([])
  await journal.commit([third])
  expect(drain(cursor)).toEqual([third])
})

test('a run that the store has not, or has no more, is unknown to a cursor', async () => {
  const store = tempStore()
  expect(thrownBy(() => store.cursor('run_1', 0))).toMatchObject({ code: 'run_unknown' })
  const empty = store.create('run_0', new ManualClock())
  expect(thrownBy(() => store.cursor('run_0', 0))).toMatchObject({ code: 'run_unknown' })
  await empty.close()
  await storeLong(store, 300)
  const [followed, halfWay] = [store.cursor('run_1', 0), store.cursor('run_1', 0)]
  drain(followed)
  halfWay.take(150)
  store.prune({ olderThanMs: -1, keepFailed: false, nowMs: 2_000_000 })
  expect(thrownBy(() => followed.take(10))).toMatchObject({ code: 'run_unknown' })
  expect(thrownBy(() => drain(halfWay))).toMatchObject({ code: 'run_unknown' })
  await storeLong(store, 300)
  expect(thrownBy(() => followed.take(10))).toMatchObject({ code: 'run_unknown' })
})

test.for<readonly [string, string]>([
  ['a row with other bytes', "UPDATE segments SET lines = x'7b7d' WHERE first_seq = 100"],
  ['a row that is missing', 'DELETE FROM segments WHERE first_seq = 100'],
  ['an end that is not where the store says', 'UPDATE runs SET chain = chain + 1'],
])('%s is named as damage, after the frames before it', async ([, sql]) => {
  const store = tempStore()
  const frames = await storeLong(store, 200)
  const database = new DatabaseSync(store.path)
  database.exec(sql)
  database.close()
  const cursor = store.cursor('run_1', 0)
  expect(cursor.take(100)).toEqual(frames.slice(0, 100))
  expect(thrownBy(() => drain(cursor))).toMatchObject({ code: 'log_corrupt' })
})

test('a log that has fewer frames than were read of it is damaged', async () => {
  const store = tempStore()
  await storeLong(store, 200)
  const cursor = store.cursor('run_1', 0)
  drain(cursor)
  const database = new DatabaseSync(store.path)
  database.exec('UPDATE runs SET frames = 100')
  database.close()
  expect(thrownBy(() => cursor.take(10))).toMatchObject({ code: 'log_corrupt' })
})

test('one run is found as a list has it, and one without a frame is not', async () => {
  const store = tempStore()
  expect(store.find('run_1')).toBe(null)
  const { started } = beginLog('run_1')
  const journal = store.create('run_1', new ManualClock())
  expect(store.find('run_1')).toBe(null)
  await journal.commit([started])
  expect(store.find('run_1')?.owner?.pid).toBe(process.pid)
  expect([store.find('run_1')]).toEqual(store.list())
  await journal.close()
  expect(store.find('run_1')).toMatchObject({ runId: 'run_1', kind: 'run', frames: 1, owner: null })
})
