import { expect, test } from 'vitest'

import { ApiError } from '../../src/inspect/page/api.ts'
import { RunFeed, type Connection } from '../../src/inspect/page/run-feed.ts'
import { allElse } from '../../src/testing/all-else.ts'
import { ManualClock } from '../manual-clock.ts'
import { plainFrame, sseOf, streamOf } from './sse-stream.ts'

type Answer = ReadableStream<Uint8Array> | ApiError | ((signal: AbortSignal) => ReadableStream<Uint8Array>)

/** A feed on a service that answers each request with the next of these. */
function feedOn(answers: readonly Answer[]) {
  const queue = [...answers]
  const clock = new ManualClock()
  const asked: number[] = []
  const seqs: number[] = []
  const connections: Connection[] = []
  let doubts = 0
  const feed = new RunFeed({
    api: {
      doubt: () => void (doubts += 1),
      async frameStream(_runId, after, signal) {
        asked.push(after)
        const answer =
          queue.shift() ??
          new ReadableStream<Uint8Array>({
            start: (controller) => signal.addEventListener('abort', () => controller.error(signal.reason)),
          })
        await Promise.resolve()
        if (answer instanceof ApiError) throw answer
        return typeof answer === 'function' ? answer(signal) : answer
      },
    },
    runId: 'run_1',
    clock,
    random: () => 1,
    onFrames: (frames) => seqs.push(...frames.map(({ seq }) => seq)),
    onConnection: (connection) => connections.push(connection),
  })
  return { feed, clock, asked, seqs, connections, doubts: () => doubts, now: () => connections.at(-1) }
}

function framesFrom(first: number, end: number): string {
  return sseOf(Array.from({ length: end - first }, (_, offset) => plainFrame(first + offset)))
}

const END = 'event: end\ndata: {"reason":"completed"}\n\n'
const AWAY = new ApiError(0, 'the service cannot be reached', { code: 'unreachable' })

test('a run that has ended is read in one go', async () => {
  const { feed, asked, seqs, connections } = feedOn([streamOf([framesFrom(0, 5), END])])
  await feed.start()
  expect(asked).toEqual([-1])
  expect(seqs).toEqual([0, 1, 2, 3, 4])
  expect(connections.map(({ kind }) => kind)).toEqual(['connecting', 'live', 'ended'])
})

test('fault S03: a lost connection is made again behind the last frame, with no gap and no repeat', async () => {
  const cut = `${framesFrom(0, 3)}id: 3\nevent: frame\ndata: {"v":1,"se`
  const { feed, clock, asked, seqs } = feedOn([
    streamOf([cut], new Error('socket closed')),
    streamOf([framesFrom(3, 6), END]),
  ])
  const ended = feed.start()
  await allElse()
  clock.advance(500)
  await ended
  expect(asked).toEqual([-1, 2])
  expect(seqs).toEqual([0, 1, 2, 3, 4, 5])
})

test('a service that stays away is asked with longer and longer pauses, fifteen seconds at most', async () => {
  const { feed, clock, asked } = feedOn(Array.from({ length: 9 }, () => AWAY))
  void feed.start()
  const pauses: number[] = []
  for (let tries = 1; tries <= 8; tries++) {
    await allElse()
    expect(asked).toHaveLength(tries)
    const pauseMs = (clock.armed[0] ?? 0) - clock.now()
    pauses.push(pauseMs)
    clock.advance(pauseMs - 1)
    await allElse()
    expect(asked).toHaveLength(tries)
    clock.advance(1)
  }
  expect(pauses).toEqual([500, 1000, 2000, 4000, 8000, 15_000, 15_000, 15_000])
  feed.close()
})

test('frames that arrive make the next pause short again', async () => {
  const { feed, clock, now } = feedOn([AWAY, AWAY, streamOf([framesFrom(0, 1)])])
  void feed.start()
  await allElse()
  clock.advance(500)
  await allElse()
  clock.advance(1000)
  await allElse()
  expect(now()).toMatchObject({ kind: 'reconnecting', failures: 1, retryAtMs: clock.now() + 500 })
  feed.close()
})

test('whoever does not want to wait ends the pause', async () => {
  const { feed, asked, clock, now } = feedOn([AWAY, streamOf([END])])
  const ended = feed.start()
  await allElse()
  feed.retryNow()
  await ended
  expect(asked).toHaveLength(2)
  expect(now()).toEqual({ kind: 'ended', reason: 'completed' })
  expect(clock.timersArmed).toBe(0)
})

test('fault S01: a page that was too slow says so and reads on where it was', async () => {
  const { feed, clock, asked, connections } = feedOn([
    streamOf([framesFrom(0, 2), 'event: too_slow\ndata: {}\n\n']),
    streamOf([framesFrom(2, 3), END]),
  ])
  const ended = feed.start()
  await allElse()
  expect(connections.at(-1)).toMatchObject({ kind: 'reconnecting', cause: 'too_slow' })
  clock.advance(500)
  await ended
  expect(asked).toEqual([-1, 1])
})

test('a service that stops is waited for', async () => {
  const { feed, now } = feedOn([streamOf(['event: closing\ndata: {}\n\n'])])
  void feed.start()
  await allElse()
  expect(now()).toMatchObject({ kind: 'reconnecting', cause: 'closing' })
  feed.close()
})

test('a log that the service cannot read on is not asked for again', async () => {
  const { feed, seqs, now } = feedOn([
    streamOf([framesFrom(0, 2), 'event: error\ndata: {"message":"row 3 is torn"}\n\n']),
  ])
  await feed.start()
  expect(seqs).toEqual([0, 1])
  expect(now()).toEqual({ kind: 'refused', cause: 'other', message: 'row 3 is torn' })
})

test('a service that is busy is left alone for as long as it says', async () => {
  const busy = new ApiError(429, 'too many streams', { code: 'too_many', retryAfterMs: 7000 })
  const { feed, clock, now } = feedOn([busy])
  void feed.start()
  await allElse()
  expect(now()).toMatchObject({ kind: 'reconnecting', retryAtMs: clock.now() + 7000 })
  feed.close()
})

test.each([
  [401, 'token'],
  [403, 'forbidden'],
  [404, 'unknown_run'],
  [409, 'other'],
] as const)('status %i is not asked again', async (status, cause) => {
  const { feed, asked, clock, now } = feedOn([new ApiError(status, 'no', { code: 'no' })])
  await feed.start()
  expect(now()).toEqual({ kind: 'refused', cause, message: 'no' })
  expect(asked).toHaveLength(1)
  expect(clock.timersArmed).toBe(0)
})

test('fault S15: after a lost connection whoever answers is doubted', async () => {
  const { feed, doubts } = feedOn([streamOf([framesFrom(0, 1)])])
  void feed.start()
  await allElse()
  expect(doubts()).toBe(1)
  feed.close()
})

test('a feed that is closed in a pause asks no more', async () => {
  const { feed, asked, clock } = feedOn([AWAY])
  const ended = feed.start()
  await allElse()
  feed.close()
  await ended
  expect(asked).toHaveLength(1)
  expect(clock.timersArmed).toBe(0)
})

test('a feed that is closed while it reads says nothing more', async () => {
  const { feed, connections } = feedOn([])
  const ended = feed.start()
  await allElse()
  feed.close()
  await ended
  expect(connections.map(({ kind }) => kind)).toEqual(['connecting', 'live'])
})

test('fault S15: a service that does not know the token is not asked again, and another token is asked for', async () => {
  const { feed, now } = feedOn([new ApiError(0, 'not the service', { code: 'impostor' })])
  await feed.start()
  expect(now()).toEqual({ kind: 'refused', cause: 'token', message: 'not the service' })
})

test('a connection on which nothing is heard for 45 seconds is made again', async () => {
  const { feed, clock, asked, now } = feedOn([])
  void feed.start()
  await allElse()
  clock.advance(44_999)
  await allElse()
  expect(now()).toEqual({ kind: 'live' })
  clock.advance(1)
  await allElse()
  expect(now()).toMatchObject({ kind: 'reconnecting', cause: 'lost' })
  clock.advance(500)
  await allElse()
  expect(asked).toHaveLength(2)
  feed.close()
})

test('a sign of life is enough for a connection on which no frame comes', async () => {
  const lines = new TransformStream<Uint8Array, Uint8Array>()
  const writer = lines.writable.getWriter()
  const { feed, clock, asked, now } = feedOn([
    (signal) => {
      signal.addEventListener('abort', () => void writer.abort(signal.reason))
      return lines.readable
    },
  ])
  void feed.start()
  for (let times = 0; times < 10; times++) {
    await allElse()
    void writer.write(new TextEncoder().encode(': ka\n\n'))
    await allElse()
    clock.advance(15_000)
  }
  await allElse()
  expect(now()).toEqual({ kind: 'live' })
  expect(asked).toEqual([-1])
  feed.close()
})
