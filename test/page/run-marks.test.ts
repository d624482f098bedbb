import { expect, test } from 'vitest'

import type { Frame } from '../../src/frames/generated/frame.ts'
import { frameKind, isDecision, isFailure } from '../../src/inspect/page/frame-kind.ts'
import { frameText } from '../../src/inspect/page/frame-text.ts'
import { moveTarget } from '../../src/inspect/page/move-target.ts'
import { RunMarks } from '../../src/inspect/page/run-marks.ts'
import { RunHistory } from '../../src/inspect/run-history.ts'
import { FIXTURE_RUNS } from './derive/fixture-runs.ts'
import { plainFrame } from './sse-stream.ts'

const [, CALLS] = FIXTURE_RUNS.find(([name]) => name === 'calls-and-approval.jsonl') ?? ['', []]
const LAST = CALLS.length - 1

function marksOf(): RunMarks {
  const marks = new RunMarks()
  marks.add(CALLS)
  return marks
}

test.each(FIXTURE_RUNS)(
  '%s: every step of the chart but the opening of a stream is a decision',
  (_name, frames) => {
    const history = new RunHistory()
    history.add(frames)
    const marks = new RunMarks()
    marks.add(frames)
    const steps = history.steps.filter(({ by }) => by !== 'stream.opened').map(({ seq }) => seq)
    expect(marks.decisions).toEqual(expect.arrayContaining([...new Set(steps)]))
  },
)

test('jumping from decision to decision visits each once, there and back', () => {
  const marks = marksOf()
  const there: number[] = []
  for (let at = -1; ;) {
    const next = moveTarget('nextDecision', at, LAST, marks)
    if (next === null) break
    there.push((at = next))
  }
  expect(there).toEqual(CALLS.filter(isDecision).map(({ seq }) => seq))
  const back: number[] = []
  for (let at = LAST + 1; ;) {
    const next = moveTarget('previousDecision', at, LAST, marks)
    if (next === null) break
    back.unshift((at = next))
  }
  expect(back).toEqual(there)
})

test('the next error is the call that was denied, then the one that nobody knows, then none', () => {
  const marks = marksOf()
  const first = moveTarget('nextError', 0, LAST, marks) ?? -1
  const second = moveTarget('nextError', first, LAST, marks) ?? -1
  expect(CALLS[first]).toMatchObject({ type: 'tool_failed', outcome: 'denied' })
  expect(CALLS[second]).toMatchObject({ type: 'tool_failed', outcome: 'unknown_tool' })
  expect(moveTarget('nextError', second, LAST, marks)).toBeNull()
  expect(moveTarget('previousError', second, LAST, marks)).toBe(first)
})

test('each turn is marked at its first state', () => {
  const { turns } = marksOf()
  expect(turns.map((seq) => CALLS[seq])).toMatchObject([
    { type: 'state_entered', turn: 1 },
    { type: 'state_entered', turn: 2 },
  ])
})

test('a page forward is later and a page back is earlier', () => {
  const marks = marksOf()
  expect(moveTarget('pageForward', 20, LAST, marks)).toBe(30)
  expect(moveTarget('pageBack', 20, LAST, marks)).toBe(10)
  expect([moveTarget('first', 20, LAST, marks), moveTarget('last', 20, LAST, marks)]).toEqual([0, LAST])
})

test('the counts of all kinds are all frames', () => {
  const counts = [...marksOf().counts.values()]
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(CALLS.length)
})

test('every recorded frame has a line of its own, without a break in it', () => {
  for (const [, frames] of FIXTURE_RUNS) {
    for (const frame of frames) expect(frameText(frame)).toMatch(/^[^\n\r\t]{1,170}$/u)
  }
})

test('a frame of megabytes costs one short line', () => {
  const frame = { ...plainFrame(0), cause: 'x'.repeat(5_000_000) }
  expect(frameText(frame as never).length).toBeLessThan(200)
})

test('a frame of a type that is not known yet is shown as a note and breaks nothing', () => {
  const frame = { ...plainFrame(0), type: 'from_the_future' } as never
  expect([frameKind(frame), frameText(frame), isDecision(frame), isFailure(frame)]).toEqual([
    'note',
    '',
    false,
    false,
  ])
})

test('an odd frame of any type is shown, counted and no failure, and breaks nothing', () => {
  const types = [...new Set(FIXTURE_RUNS.flatMap(([, frames]) => frames.map(({ type }) => type)))]
  expect(types.length).toBeGreaterThan(15)
  const odd = types.map((type, seq) => ({ v: 1, run_id: 'r', seq, ts: seq, type }) as Frame)
  const marks = new RunMarks()
  marks.add(odd)
  expect([...marks.counts.values()].reduce((sum, count) => sum + count, 0)).toBe(types.length)
  for (const frame of odd) expect(typeof frameText(frame), frame.type).toBe('string')
  expect(isFailure({ type: 'provider_event', status: 'ok', errors: ['no'] } as unknown as Frame)).toBe(true)
  expect(isFailure({ type: 'provider_event', status: 'ok' } as unknown as Frame)).toBe(false)
  expect(isFailure({ type: 'effect_settled' } as unknown as Frame)).toBe(false)
})
