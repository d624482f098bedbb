import { expect, test, vi } from 'vitest'

import { loopMachine } from '../../machines/loop.machine.ts'
import { createCoverage } from '../../src/chart/coverage.ts'
import { chartLayout } from '../../src/chart/generated/chart-layout.ts'
import { loopPaths } from '../../src/chart/loop-paths.ts'
import { LOOP_SCENARIOS } from '../../src/chart/loop-scenarios.ts'
import { createFold } from '../../src/chart/pure-fold.ts'
import type { Frame } from '../../src/frames/generated/frame.ts'
import { RunHistory } from '../../src/inspect/run-history.ts'
import { restoreRun } from '../../src/loop/restore-run.ts'
import { drivePath } from '../model/driver-host.ts'
import { readLog, RUN_FIXTURES } from '../replay/read-log.ts'
import { stored } from '../simulation/run-seeds.ts'
import { simulate } from '../simulation/simulate.ts'
import { saidStates } from './said-states.ts'

vi.setConfig({ testTimeout: 120_000 })

const IDS = new Set(chartLayout.transitions.map(({ id }) => id))

test('there are recorded runs to compare with', () => {
  expect(RUN_FIXTURES.length).toBeGreaterThan(8)
})

test.for(RUN_FIXTURES)('every step of %s is where the log says that the run went', (path) => {
  expect(compare(readLog(path))).toEqual([])
})

test('every step of 150 random runs, with crashes, is where the log says that the run went', async () => {
  for (let seed = 0; seed < 150; seed += 1) {
    const { frames } = await simulate(seed)
    expect(compare(stored(frames)), `SEED=${seed}`).toEqual([])
  }
})

test('every transition that the paths of the chart take is a step of their histories', async () => {
  const coverage = createCoverage(loopMachine)
  const watch = createFold(loopMachine, { onTransition: coverage.take })
  const seen = new Set<string>()
  for (const scenario of LOOP_SCENARIOS) {
    for (const path of loopPaths(scenario)) {
      const history = historyOf(stored((await drivePath(path)).frames))
      expect(history.problem).toBe(null)
      for (const { transitions } of history.steps) for (const id of transitions) seen.add(id)
      let { snapshot } = watch.first(path.input)
      for (const event of path.events) ({ snapshot } = watch.next(snapshot, event))
    }
  }
  const taken = new Set(coverage.taken().keys())
  expect([...seen].sort()).toEqual([...taken].sort())
  expect([...seen].filter((id) => !IDS.has(id))).toEqual([])
})

test('transitions of one step follow each other, from where the run was to where it is', async () => {
  for (let seed = 0; seed < 60; seed += 1) {
    expect(brokenChains(historyOf((await simulate(seed)).frames)), `SEED=${seed}`).toEqual([])
  }
})

/** Steps whose transitions do not lead from one state to the next; a way of a parent is a way of what is in it. */
function brokenChains({ steps }: RunHistory): readonly string[] {
  const drawn = new Map(chartLayout.transitions.map((one) => [one.id, one]))
  let at = ''
  return steps.flatMap(({ seq, by, state, transitions }) => {
    if (by === 'run_resumed') at = state
    const broken: string[] = []
    for (const id of transitions) {
      const { from, to, points } = drawn.get(id) ?? { from: '?', to: '?', points: [] }
      if (!`${at}.`.startsWith(from === '' ? '' : `${from}.`)) broken.push(`frame ${seq}: ${id} from ${at}`)
      // One that is written inside its state leaves it only to come back.
      if (points.length > 0) at = to
    }
    return at === state ? broken : [...broken, `frame ${seq}: ${at} and not ${state}`]
  })
}

test('frames that come one by one give the history that they give at once', async () => {
  for (let seed = 0; seed < 20; seed += 1) {
    const { frames } = await simulate(seed)
    const slow = new RunHistory()
    for (const frame of frames) slow.add([frame])
    expect(slow.steps, `SEED=${seed}`).toEqual(historyOf(frames).steps)
  }
})

test('two histories that grow at the same time do not take transitions from each other', async () => {
  const [one, other] = [(await simulate(3)).frames, (await simulate(57)).frames]
  const [first, second] = [new RunHistory(), new RunHistory()]
  for (let at = 0; at < Math.max(one.length, other.length); at += 1) {
    first.add(one.slice(at, at + 1))
    second.add(other.slice(at, at + 1))
  }
  expect(first.steps).toEqual(historyOf(one).steps)
  expect(second.steps).toEqual(historyOf(other).steps)
})

test('a step is found by any frame up to the next one', () => {
  const frames = readLog('calls-and-approval')
  const history = historyOf(frames)
  expect(history.stepAt(-1)).toBe(null)
  for (const { seq } of frames) {
    expect(history.stepAt(seq)).toBe(history.steps.findLast((step) => step.seq <= seq) ?? null)
  }
  expect(history.stepAt(Number.MAX_SAFE_INTEGER)).toBe(history.steps.at(-1))
})

test('adding frames to a long history costs what is new, not what is there', () => {
  const [started] = readLog('answer')
  if (started === undefined) throw new Error('the log is empty')
  const history = new RunHistory()
  history.add([started])
  const before = history.steps
  for (let seq = 1; seq <= 20_000; seq += 1) {
    history.add([{ ...started, seq, type: 'warning', cause: 'noise', figures: {} } as unknown as Frame])
  }
  expect(history.steps).toBe(before)
  expect(history.steps).toHaveLength(1)
  expect(history.problem).toBe(null)
})

test('a log with a gap has the steps before it and says what is missing', () => {
  const frames = readLog('calls-and-approval')
  const history = historyOf(frames.filter(({ seq }) => seq !== 12))
  expect(history.problem).toBe('frame 13: frame 12 is missing')
  expect(history.steps).toEqual(historyOf(frames.slice(0, 12)).steps)
})

test('a log that says other states than this chart enters is no history of it', () => {
  const frames = readLog('answer')
  const at = frames.findLastIndex(({ type }) => type === 'state_entered')
  const other = frames.map((frame, index) =>
    index === at ? ({ ...frame, state: 'elsewhere' } as Frame) : frame,
  )
  expect(historyOf(other).problem).toMatch(/^frame \d+: the log says that elsewhere was entered/u)
  const silent = frames
    .filter((frame) => frame.type !== 'state_entered')
    .map((frame, seq) => ({ ...frame, seq }))
  expect(historyOf(silent).problem).toMatch(/does not say that working\.responding\.requesting was entered/u)
})

test('a decision that no chart can work with is a problem, not an exception, and harms no other history', () => {
  const frames = readLog('calls-and-approval')
  const { steps } = historyOf(frames)
  const broken = frames.map((frame) =>
    frame.type === 'response_settled' ? { ...frame, decision: { ok: true, response: {} } } : frame,
  )
  expect(historyOf(broken).problem).toMatch(/^frame \d+: it cannot be folded/u)
  expect(historyOf(frames).steps).toEqual(steps)
  expect(historyOf(frames.slice(1)).problem).toBe('frame 1: frame 0 is missing')
})

test('the log of a conversation has no steps, and says why', () => {
  const history = new RunHistory()
  const frame = { v: 1, run_id: 'talk', seq: 0, ts: 0, type: 'conversation_started' } as unknown as Frame
  history.add([frame, { ...frame, seq: 1, type: 'conversation_closed' } as unknown as Frame])
  expect(history.steps).toEqual([])
  expect(history.problem).toMatch(/log of a conversation/u)
})

function historyOf(frames: readonly Frame[]): RunHistory {
  const history = new RunHistory()
  history.add(frames)
  return history
}

/** What a history gets wrong about a log; nothing when it is right. */
function compare(frames: readonly Frame[]): readonly string[] {
  const history = historyOf(frames)
  const faults = history.problem === null ? [] : [history.problem]
  const said = saidStates(frames)
  for (const { seq } of frames) {
    const step = history.stepAt(seq)
    const next = history.steps.find((other) => other.seq > seq)
    // A step's states are named right after its first frame.
    const settled = said[lastNamed(frames, step?.seq ?? 0, next?.seq ?? frames.length)]
    if (step?.state !== settled) faults.push(`frame ${seq}: ${step?.state} where the log says ${settled}`)
  }
  const entered = frames.flatMap((frame) =>
    frame.type === 'state_entered' ? [[frame.by, frame.state, frame.turn]] : [],
  )
  const passed = history.steps.flatMap((step) =>
    step.by === 'run_resumed' ? [] : step.entered.map(({ state, turn }) => [step.by, state, turn]),
  )
  expect(passed).toEqual(entered)
  // The same snapshots, down to the hashes of outputs, that whoever resumes the run goes on from.
  const restored: unknown[] = []
  restoreRun(frames, (frame, step) => void restored.push([frame.seq, step.snapshot]))
  const decided = history.steps.filter(({ by }) => by !== 'run_resumed' && by !== 'stream.opened')
  expect(decided.map(({ seq, snapshot }) => [seq, snapshot])).toEqual(restored)
  for (const { transitions, seq } of history.steps) {
    for (const id of transitions) if (!IDS.has(id)) faults.push(`frame ${seq}: ${id} is not drawn`)
  }
  return faults
}

function lastNamed(frames: readonly Frame[], from: number, to: number): number {
  let last = from
  for (let at = from; at < to && at < frames.length; at += 1)
    if (frames[at]?.type === 'state_entered') last = at
  return last
}
