import { expect, test } from 'vitest'

import type { Frame } from '../../../src/frames/generated/frame.ts'
import { attemptStateAt, partsAt } from '../../../src/inspect/page/derive/attempts.ts'
import { callAt, openQuestions } from '../../../src/inspect/page/derive/call-at.ts'
import { deriveIndex, type RunIndex } from '../../../src/inspect/page/derive/run-index.ts'
import { countSeen, lastSeen } from '../../../src/inspect/page/derive/seen-records.ts'
import { usageAt } from '../../../src/inspect/page/derive/usage-series.ts'
import { FIXTURE_RUNS } from './fixture-runs.ts'
import { plainView, type PlainView } from './plain-reference.ts'
import { viewAt } from './view-at.ts'

test.for(FIXTURE_RUNS)('%s shows at every frame what a log that ends there shows', ([, frames]) => {
  const index = deriveIndex(frames)
  for (const { seq } of frames) {
    const upToHere = deriveIndex(frames.slice(0, seq + 1))
    expect(viewAt(index, seq), `frame ${seq}`).toEqual(viewAt(upToHere, seq))
  }
})

test.for(FIXTURE_RUNS)(
  '%s shows at every frame what a plain reader of its frames notes down',
  ([, frames]) => {
    const index = deriveIndex(frames)
    for (const { seq } of frames) {
      expect(shortView(index, seq), `frame ${seq}`).toEqual(plainView(frames.slice(0, seq + 1)))
    }
  },
)

test.for(FIXTURE_RUNS)('%s gives the same index when its frames come one by one', ([, frames]) => {
  const growing: Frame[] = []
  const index = deriveIndex(growing)
  for (const frame of frames) {
    growing.push(frame)
    expect(deriveIndex(growing), 'one index for one list').toBe(index)
    expect(index.length).toBe(growing.length)
  }
  expect(viewAt(index, Infinity)).toEqual(viewAt(deriveIndex([...frames]), Infinity))
})

const ENDED = FIXTURE_RUNS.filter(([, frames]) => frames.at(-1)?.type === 'run_ended')

test.for(ENDED)('%s has used at its end what its last frame says', ([, frames]) => {
  const { total } = usageAt(deriveIndex(frames).usage, Infinity)
  expect(total).toEqual(frames.find((frame) => frame.type === 'run_ended')?.usage)
})

/** The same as the plain reader's, from the index. */
function shortView({ attempts, calls, events, requests, usage, turns }: RunIndex, at: number): PlainView {
  const seen = attempts.all.slice(0, countSeen(attempts.all, at))
  const made = calls.all.slice(0, countSeen(calls.all, at)).map((call) => callAt(call, at))
  const shown = events.seqs.filter((seq) => seq <= at)
  return {
    turn: lastSeen(turns, at)?.turn ?? 0,
    said: seen.map((attempt) =>
      partsAt(attempt, at)
        .map(({ text, length }) => text.slice(0, length))
        .join(''),
    ),
    attempts: seen.map((attempt) => attemptStateAt(attempt, at)),
    calls: made.map(({ call, end, starts, stdoutLength }) => ({
      callId: call.callId,
      name: call.name,
      outcome: end?.outcome ?? null,
      isStarted: starts > 0,
      stdout: call.stdout.slice(0, stdoutLength),
    })),
    asked: openQuestions(calls.all, at).map(({ path }) => path.join('/')),
    tokens: usageAt(usage, at).total.total_tokens,
    requests: countSeen(requests.all, at),
    events: shown.length,
    marked: shown.filter((_, row) => events.marks[row] !== 'none').length,
  }
}
