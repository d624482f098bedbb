import { expect, test } from 'vitest'

import type { Frame } from '../../src/frames/generated/frame.ts'
import { parseRunSummary } from '../../src/inspect/page/answers.ts'
import { RunSession } from '../../src/inspect/page/run-session.ts'
import { allElse } from '../../src/testing/all-else.ts'
import { ManualClock } from '../manual-clock.ts'
import { FIXTURE_RUNS } from './derive/fixture-runs.ts'
import { plainFrame, sseOf, streamOf } from './sse-stream.ts'

const END = 'event: end\ndata: {"reason":"completed"}\n\n'

/** A session on a stream; `draw` is the browser's next drawing. */
function sessionOn(stream: ReadableStream<Uint8Array>, lastSeq: number | null) {
  const clock = new ManualClock()
  const drawings: (() => void)[] = []
  const asked: string[] = []
  let changes = 0
  let summaries = 0
  const session = new RunSession({
    api: {
      frameStream: () => Promise.resolve(stream),
      doubt: () => undefined,
      run: (runId) => {
        summaries += 1
        if (lastSeq === null) return Promise.reject(new Error('no'))
        return Promise.resolve(parseRunSummary({ run_id: runId, last_seq: lastSeq }))
      },
    },
    runId: 'run_1',
    clock,
    random: () => 0,
    beforeNextDrawing: (work, isReading) => {
      asked.push(isReading ? 'later' : 'soon')
      drawings.push(work)
    },
    onChange: () => void (changes += 1),
  })
  const draw = (): void => drawings.splice(0).forEach((work) => work())
  return { session, clock, draw, drawings, asked, changes: () => changes, summaries: () => summaries }
}

async function readWhole(frames: readonly Frame[]) {
  const parts = sessionOn(streamOf([sseOf(frames), END]), frames.length - 1)
  parts.session.start()
  await allElse()
  parts.draw()
  return parts
}

test('whatever arrives between two drawings is taken in and shown once', async () => {
  const [, frames] = FIXTURE_RUNS[0] ?? ['', []]
  const pieces = [...frames.map((frame) => sseOf([frame])), END]
  const { session, draw, drawings, changes } = sessionOn(streamOf(pieces), frames.length - 1)
  session.start()
  while (session.connection.kind !== 'ended') await allElse()
  expect(drawings.length).toBeLessThanOrEqual(2)
  expect(session.model.frames).toHaveLength(0)
  draw()
  expect(changes()).toBe(1)
  expect(session.model.frames).toEqual(frames)
  expect(session.model.isEnded).toBe(true)
})

test.each(FIXTURE_RUNS)(
  '%s: at every frame that enters a state the page shows that state',
  async (_name, frames) => {
    const { session } = await readWhole(frames)
    const { visits, model } = session
    expect(model.history.problem).toBeNull()
    const entered = frames.filter((frame) => frame.type === 'state_entered')
    // A decision enters all its states at once: the last of them is what holds.
    const lasting = entered.filter((frame, index) => entered[index + 1]?.seq !== frame.seq + 1)
    expect(lasting.map(({ seq }) => visits.stateAt(seq))).toEqual(lasting.map(({ state }) => state))
    const last = frames.length - 1
    for (const state of new Set(entered.map((frame) => frame.state))) {
      const count = entered.filter((frame) => frame.state === state).length
      expect(visits.visitsAt(state, last, frames[last]?.ts ?? 0).count).toBeGreaterThanOrEqual(count)
    }
  },
)

test('a log that the chart cannot fold still shows the states that it names', async () => {
  const state: Frame = {
    v: 1,
    run_id: 'run_1',
    seq: 1,
    ts: 1001,
    type: 'state_entered',
    state: 'working.assembling',
    by: 'x',
    turn: 1,
  }
  const { session } = await readWhole([plainFrame(0), state])
  expect(session.model.history.problem).not.toBeNull()
  expect(session.visits.stateAt(1)).toBe('working.assembling')
})

test('a run is live once all that was there at the opening is read', async () => {
  const stream = new ReadableStream<Uint8Array>({
    start: (controller) =>
      controller.enqueue(new TextEncoder().encode(sseOf([plainFrame(0), plainFrame(1)]))),
  })
  const behind = sessionOn(stream, 5)
  behind.session.start()
  await allElse()
  behind.draw()
  expect(behind.session.model.isLive).toBe(false)
  expect(behind.session.expected).toBe(6)
  behind.session.close()
})

test('a long log is drawn seldom while it is read, and at once when it is there', async () => {
  const whole = [0, 1, 2, 3].map((seq) => plainFrame(seq))
  const given: ReadableStreamDefaultController<Uint8Array>[] = []
  const stream = new ReadableStream<Uint8Array>({ start: (controller) => void given.push(controller) })
  const { session, draw, asked } = sessionOn(stream, 3)
  session.start()
  await allElse()
  draw()
  asked.length = 0
  for (const frame of whole) {
    given[0]?.enqueue(new TextEncoder().encode(sseOf([frame])))
    await allElse()
  }
  expect(asked).toEqual(['later', 'soon'])
  draw()
  expect(session.model).toMatchObject({ frames: whole, isLive: true })
  session.close()
})

test('a model is the same until something changes', async () => {
  const { session } = await readWhole([plainFrame(0)])
  const before = session.model
  expect(session.model).toBe(before)
  expect(before.frames).toHaveLength(1)
})

test('what the service says of a run is asked again when the run moves, once a second at most', async () => {
  const [, frames] = FIXTURE_RUNS.find(([name]) => name === 'calls-and-approval.jsonl') ?? ['', []]
  const given: ReadableStreamDefaultController<Uint8Array>[] = []
  const stream = new ReadableStream<Uint8Array>({ start: (controller) => void given.push(controller) })
  const { session, clock, draw, summaries } = sessionOn(stream, 0)
  const arrive = async (part: readonly Frame[]): Promise<void> => {
    given[0]?.enqueue(new TextEncoder().encode(sseOf(part)))
    await allElse()
    draw()
  }
  session.start()
  await arrive(frames.slice(0, 20))
  expect(summaries()).toBe(1)
  clock.advance(600)
  await arrive(frames.slice(20))
  expect(summaries()).toBe(1)
  clock.advance(400)
  await allElse()
  expect(summaries()).toBe(2)
  session.close()
})

test('a session that is closed draws nothing more and leaves no timer', async () => {
  const { session, clock, draw, changes } = sessionOn(streamOf([sseOf([plainFrame(0)])]), 0)
  session.start()
  await allElse()
  session.close()
  draw()
  await allElse()
  expect(changes()).toBe(0)
  expect(clock.timersArmed).toBe(0)
})

test('a run of which the service cannot say how far it is counts as live from what was read on', async () => {
  const lines = new TransformStream<Uint8Array, Uint8Array>()
  const { session, draw } = sessionOn(lines.readable, null)
  session.start()
  await allElse()
  draw()
  expect(session.model.isLive).toBe(true)
  session.close()
})

test('a log with odd frames that cannot be folded is read to its end', async () => {
  const odd = { v: 1, run_id: 'run_1', seq: 0, ts: 1, type: 'state_entered' } as unknown as Frame
  const { session } = await readWhole([odd, plainFrame(1)])
  expect(session.model.frames).toHaveLength(2)
  expect(session.model.history.problem).not.toBe(null)
})
