import { systemClock } from '../clock.ts'
import { loopFold } from '../chart/loop-fold.ts'
import type { LoopPath } from '../chart/loop-paths.ts'
import type { LoopFold } from '../chart/pure-fold.ts'
import { FrameStamp } from '../frames/frame-stamp.ts'
import type { Frame } from '../frames/generated/frame.ts'
import { makeFrame } from '../frames/make-frame.ts'
import type { Agent } from '../loop/agent.ts'
import { Driver } from '../loop/drive.ts'
import { checkFrames, type Violation } from './invariants.ts'
import { pathName } from './loop-paths.ts'
import { PathJournal } from './path-journal.ts'
import { PathModel } from './path-model.ts'
import { SimulatedClock } from './simulated-clock.ts'

export interface PathRun {
  readonly frames: readonly Frame[]
  readonly violations: readonly Violation[]
  /** Where the run left its path: the agent did something else than its settings say. Null: it did not. */
  readonly left: string | null
}

export interface PathRunOptions {
  /** What the model says when it has nothing left to do. */
  readonly answer: string
  /** Sees each event as the chart takes it. */
  readonly watch: LoopFold
  readonly patienceMs: number
}

/** Runs a path with an agent's own tools, checks and requests. */
export async function runPath(
  agent: Agent,
  path: LoopPath,
  { answer, watch, patienceMs }: PathRunOptions,
): Promise<PathRun> {
  const clock = new SimulatedClock()
  const model = new PathModel(answer)
  const models = agent.models.map((one) => model.standIn(one))
  const compaction = standInCompaction(agent)
  const standIn: Agent = { ...agent, models, clock, random: () => 0, compaction }
  const expected = statesOf(path)
  const waiting = new Set<() => void>()
  const journal = new PathJournal({
    events: path.events,
    model,
    clock,
    onStep: (at) => driver.snapshot.state === expected[at],
    onEvent: (event) => void watch.next(driver.snapshot, event),
    patience: () => patience(patienceMs, waiting),
    isStopping: () => driver.snapshot.state === 'stopping',
  })
  const stamp = new FrameStamp('run_path', () => clock.now())
  const runId = 'run_path'
  const started = startFrame(stamp, agent, path)
  const driver = new Driver({ runId, agent: standIn, input: path.input, journal, stamp, started })
  try {
    await driver.run()
  } finally {
    for (const disarm of waiting) disarm()
  }
  const where = pathName(path)
  const late: readonly Violation[] =
    journal.late === null
      ? []
      : [{ where, rule: 'in_time', detail: `${journal.late} within ${patienceMs} ms` }]
  return {
    frames: journal.frames,
    violations: [...checkFrames(where, journal.frames), ...late],
    left: journal.left === null ? null : `${where}: ${journal.left}`,
  }
}

/** A function of the user's own is used; any other way would ask a model, or find so short a conversation short enough. */
function standInCompaction({ compaction }: Agent): Agent['compaction'] {
  if (compaction === null || compaction.custom !== null) return compaction
  return { ...compaction, custom: () => Promise.resolve({ ok: true, items: [IN_SHORT] }) }
}

const IN_SHORT = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'in short' }] }

/** Where the path leads, after each of its events. */
function statesOf({ input, events }: LoopPath): readonly string[] {
  const fold = loopFold()
  let { snapshot } = fold.first(input)
  const states = [snapshot.state]
  for (const event of events) {
    snapshot = fold.next(snapshot, event).snapshot
    states.push(snapshot.state)
  }
  return states
}

/** Real time: what is waited for is real as well. */
function patience(ms: number, waiting: Set<() => void>): Promise<'late'> {
  return new Promise((resolve) => {
    const disarm = systemClock.setTimer(systemClock.now() + ms, () => resolve('late'))
    waiting.add(disarm)
  })
}

function startFrame(stamp: FrameStamp, agent: Agent, { input, scenario }: LoopPath): Frame {
  return makeFrame(stamp, 'run_started', {
    input: input.items.map((item) => ({ ...item })),
    agent: { scenario },
    model: agent.models.map(({ name }) => name).join(' '),
    limits: { ...agent.settings.limits },
    settings: {},
    deadline_at: input.deadlineAt,
    continuity: agent.continuity,
    chart_version: 'testing',
    chart_hash: 'testing',
    parent: null,
  })
}
