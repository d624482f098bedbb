import { expect, test } from 'vitest'

import { FrameStamp } from '../../src/frames/frame-stamp.ts'
import type { Frame } from '../../src/frames/generated/frame.ts'
import type { FrameCursor } from '../../src/journal/frame-cursor.ts'
import { FrameLog } from '../../src/journal/frame-log.ts'
import { LiveCursor } from '../../src/journal/live-cursor.ts'
import type { RunJournal } from '../../src/journal/run-store.ts'
import { ManualClock } from '../manual-clock.ts'
import { everythingElse } from '../scripted-model.ts'
import { deltaFrame, sampleLog } from './sample-frames.ts'
import { beginLog, collect, tempStore, thrownBy } from './store-kit.ts'

const numbers = (frames: readonly Frame[]): readonly number[] => frames.map(({ seq }) => seq)
const upTo = (end: number, from = 0): readonly number[] =>
  Array.from({ length: end - from }, (_, at) => from + at)

function deltas(count: number): readonly Frame[] {
  const stamp = new FrameStamp('run_1', () => 0)
  return Array.from({ length: count }, (_, at) => deltaFrame(stamp, `word ${at}`))
}

function logOf(frames: readonly Frame[]): FrameLog {
  const log = new FrameLog()
  for (const frame of frames) log.append([frame])
  return log
}

/** Takes until nothing is left, with a turn of the event loop where it is asked for. */
async function drain(cursor: FrameCursor, maxFrames: number, maxChars?: number): Promise<readonly Frame[]> {
  const all: Frame[] = []
  for (;;) {
    const taken = cursor.take(maxFrames, maxChars)
    all.push(...taken)
    if (cursor.isBehind) await cursor.changed()
    else if (taken.length === 0) return all
  }
}

/** A log in a store that keeps few frames in memory, and how to append to it. */
async function recentLog(recent: number): Promise<{
  readonly journal: RunJournal
  readonly write: (count: number) => Promise<void>
}> {
  const { stamp, started } = beginLog('run_1')
  const journal = tempStore().create('run_1', new ManualClock(), { recent })
  await journal.commit([started])
  const write = async (count: number): Promise<void> =>
    journal.commit(Array.from({ length: count }, () => deltaFrame(stamp, 'word')))
  return { journal, write }
}

test('a cursor gives what is there, no more than it was asked for, and says when no more will come', () => {
  const frames = deltas(10)
  const log = logOf(frames)
  const cursor = log.cursor(2)
  expect(cursor.at).toBe(2)
  expect(cursor.take(3)).toEqual(frames.slice(2, 5))
  expect(cursor.at).toBe(5)
  expect(cursor.take(100)).toEqual(frames.slice(5))
  expect(cursor.take(100)).toEqual([])
  expect(cursor.isEnded).toBe(false)
  log.end()
  expect(cursor.isEnded).toBe(true)
  expect(log.cursor(9).isEnded).toBe(false)
  expect(log.cursor(10).isEnded).toBe(true)
})

test('a cursor counts characters, and gives a frame that is longer than allowed by itself', () => {
  const stamp = new FrameStamp('run_1', () => 0)
  const sizes = [10, 10, 5000, 10, 900, 900]
  const log = logOf(sizes.map((size) => deltaFrame(stamp, 'x'.repeat(size))))
  const cursor = log.cursor(0)
  const taken: (readonly number[])[] = []
  for (let some = cursor.take(10, 1000); some.length > 0; some = cursor.take(10, 1000))
    taken.push(numbers(some))
  expect(taken).toEqual([[0, 1], [2], [3], [4], [5]])
  expect(log.cursor(0).take(10, 10_000)).toHaveLength(6)
})

test.for([-3, Number.NaN, 0.5, Number.POSITIVE_INFINITY])(
  'a cursor from %s begins with the first frame that is not before it',
  (from) => {
    const log = logOf(deltas(3))
    const expected = from === Number.POSITIVE_INFINITY ? [] : from === 0.5 ? [1, 2] : [0, 1, 2]
    expect(numbers(log.cursor(from).take(10))).toEqual(expected)
  },
)

test('a waiting cursor is woken by a frame that it can take, by none before, and by the end', async () => {
  const [first, second, third] = deltas(3)
  const log = new FrameLog()
  const woken: string[] = []
  const watch = async (name: string, cursor: FrameCursor): Promise<void> => {
    await cursor.changed()
    woken.push(`${name} at ${log.length}`)
  }
  const watching = [watch('0', log.cursor(0)), watch('2', log.cursor(2)), watch('9', log.cursor(9))]
  for (const frame of [first, second, third]) {
    if (frame !== undefined) log.append([frame])
    await everythingElse()
  }
  expect(woken).toEqual(['0 at 1', '2 at 3'])
  log.end()
  await Promise.all(watching)
  expect(woken).toEqual(['0 at 1', '2 at 3', '9 at 3'])
})

test('a cursor that is closed while it is waited for is woken, has ended, and gives nothing', async () => {
  const [frame] = deltas(1)
  const log = new FrameLog()
  const cursor = log.cursor(0)
  const [one, other] = [cursor.changed(), cursor.changed()]
  cursor.close()
  await Promise.all([one, other])
  expect(cursor.isEnded).toBe(true)
  if (frame !== undefined) log.append([frame])
  expect(cursor.take(10)).toEqual([])
  await cursor.changed()
})

test('a log holds nothing of a cursor that was closed while it was waited for', () => {
  const listening = new Set<() => void>()
  const cursor = new LiveCursor(
    {
      slice: () => [],
      first: 0,
      length: 0,
      isEnded: false,
      older: () => expect.unreachable(),
      listen: (wake) => void listening.add(wake),
      forget: (wake) => void listening.delete(wake),
    },
    0,
  )
  void cursor.changed()
  expect(listening.size).toBe(1)
  cursor.close()
  expect(listening.size).toBe(0)
})

test('a log of 10,000 frames that keeps 100 holds those and what was written last, and knows its length', async () => {
  const { journal, write } = await recentLog(100)
  for (let step = 0; step < 100; step += 1) {
    const before = journal.log.length
    await write(100)
    expect(journal.log.frames).toHaveLength(Math.min(before, 100) + 100)
  }
  expect(journal.log.length).toBe(10_001)
  expect(journal.log.frames.at(-1)?.seq).toBe(10_000)
  await journal.close()
  expect(journal.log.frames).toHaveLength(100)
})

test('a reader that keeps up never looks into the store, however much is written at once', async () => {
  const { journal, write } = await recentLog(4)
  const cursor = journal.log.cursor(0)
  const taken = [...cursor.take(10)]
  for (const count of [500, 3, 700]) {
    await write(count)
    expect(cursor.isBehind).toBe(false)
    taken.push(...cursor.take(count))
  }
  expect(numbers(taken)).toEqual(upTo(1204, 0))
})

test('every frame of a log that keeps few comes once and in order, from wherever it is read', async () => {
  const { journal, write } = await recentLog(10)
  await write(3000)
  for (const from of [0, 1, 1500, 2985, 3000]) {
    expect(numbers(await drain(journal.log.cursor(from), 7))).toEqual(upTo(3001, from))
    expect(numbers(await drain(journal.log.cursor(from), 400, 2000))).toEqual(upTo(3001, from))
  }
  const collected = collect(journal.log.read(5))
  await write(100)
  await journal.close()
  expect(numbers(await collected)).toEqual(upTo(3101, 5))
})

test('a log of every kind of line is read from a store as it was shown', async () => {
  const frames = sampleLog('run_1')
  const journal = tempStore().create('run_1', new ManualClock(), { recent: 4 })
  for (const frame of frames) await journal.commit([frame])
  expect(journal.log.frames.length).toBeLessThanOrEqual(20)
  expect(await drain(journal.log.cursor(0), 3)).toEqual(frames)
})

test('a reader that falls behind and catches up over and over reads no row twice', async () => {
  const written = deltas(2000)
  let [opened, decoded] = [0, 0]
  const log = new FrameLog({
    recent: 16,
    older: (from) => {
      opened += 1
      let at = from
      decoded += from
      return {
        get at() {
          return at
        },
        isEnded: false,
        isBehind: true,
        skipTo: (to) => {
          expect(to).toBeGreaterThanOrEqual(at)
          decoded += to - at
          at = to
        },
        take: (maxFrames) => {
          const taken = written.slice(at, at + maxFrames)
          at += taken.length
          decoded += taken.length
          return taken
        },
        changed: () => Promise.resolve(),
        close: () => undefined,
      }
    },
  })
  const cursor = log.cursor(0)
  const all: Frame[] = []
  for (const [at, frame] of written.entries()) {
    log.append([frame])
    if (at % 200 === 199) all.push(...(await drain(cursor, 50)))
  }
  expect(all).toEqual(written)
  expect(opened).toBe(1)
  expect(decoded).toBeLessThanOrEqual(written.length)
})

test('a reader that falls behind again gets the frames that it has not had, from memory and store in turn', async () => {
  const { journal, write } = await recentLog(10)
  const cursor = journal.log.cursor(0)
  const all: Frame[] = []
  for (const [maxFrames, maxChars] of [[3], [40, 700], [1000], [40, 700]] as const) {
    await write(200)
    // Some from the store, and then, without a frame between them, all that is in memory.
    all.push(...cursor.take(maxFrames, maxChars))
    all.push(...(await drain(cursor, 1000)))
    await write(5)
    all.push(...cursor.take(1000))
  }
  expect(numbers(all)).toEqual(upTo(journal.log.length))
})

test('what another owner appends to the store is not given as a part of the log that this one keeps', async () => {
  const { stamp, started } = beginLog('run_1')
  const store = tempStore()
  const journal = store.create('run_1', new ManualClock(), { recent: 4 })
  await journal.commit([started, ...Array.from({ length: 60 }, () => deltaFrame(stamp, 'mine'))])
  const cursor = journal.log.cursor(0)
  await journal.close()
  const { journal: taken } = store.take('run_1', new ManualClock())
  await taken.commit([deltaFrame(stamp, 'theirs')])
  expect(numbers(await drain(cursor, 1000))).toEqual(upTo(61))
  expect(cursor.isEnded).toBe(true)
})

test('a run that was removed and begun anew under its id is not read as a part of the log before', async () => {
  const store = tempStore()
  const [first, second] = [beginLog('run_1'), beginLog('run_1')]
  const journal = store.create('run_1', new ManualClock(), { recent: 4 })
  await journal.commit([first.started, ...Array.from({ length: 60 }, () => deltaFrame(first.stamp, 'old'))])
  await journal.close()
  store.prune({ olderThanMs: -1, keepFailed: false, nowMs: 2_000_000 })
  const anew = store.create('run_1', new ManualClock())
  await anew.commit([second.started, ...Array.from({ length: 60 }, () => deltaFrame(second.stamp, 'new'))])
  expect(thrownBy(() => journal.log.cursor(0).take(10))).toMatchObject({ code: 'run_unknown' })
  await expect(collect(journal.log.read())).rejects.toMatchObject({ code: 'run_unknown' })
})

test('a reader of many frames that are only in the store leaves the event loop its turns', async () => {
  const { journal, write } = await recentLog(10)
  await write(3000)
  await journal.close()
  let turns = 0
  let isDone = false
  const count = (): void => {
    turns += 1
    if (!isDone) setImmediate(count)
  }
  setImmediate(count)
  expect(await collect(journal.log.read())).toHaveLength(3001)
  isDone = true
  expect(turns).toBeGreaterThan(10)
})

test('frames that are asked for before the last ones came are each given once', async () => {
  const log = new FrameLog()
  const reader = log.read()
  const asked = Array.from({ length: 4 }, () => reader.next())
  for (const frame of deltas(4)) log.append([frame])
  const given = await Promise.all(asked)
  expect(given.map(({ value }) => value?.seq)).toEqual([0, 1, 2, 3])
})

test('a reader that leaves while it waits is let go of', async () => {
  const log = new FrameLog()
  const reader = log.read()
  const waiting = reader.next()
  await reader.return?.()
  expect(await waiting).toEqual({ value: undefined, done: true })
})
