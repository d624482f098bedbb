import { setImmediate as immediate } from 'node:timers/promises'

import type { LoopCommand } from '../../machines/loop.types.ts'
import { FrameStamp } from '../../src/frames/frame-stamp.ts'
import type { Frame } from '../../src/frames/generated/frame.ts'
import { makeFrame } from '../../src/frames/make-frame.ts'
import type { Agent } from '../../src/loop/agent.ts'
import { plain } from '../../src/loop/decisions.ts'
import { Driver } from '../../src/loop/drive.ts'
import { loopInput } from '../../src/loop/loop-input.ts'
import { restoreRun } from '../../src/loop/restore-run.ts'
import { SimulatedClock } from '../../src/testing/simulated-clock.ts'
import { Random } from './random.ts'
import { simulatedAgent } from './simulated-agent.ts'
import { SimulatedProcess } from './simulated-process.ts'

/** A tool began to run: what the world saw, whatever the log says. */
interface Execution {
  readonly name: string
  /** Run, turn and place among the calls of the response. */
  readonly key: string
  /** How many frames the log had. */
  readonly at: number
}

export interface SimulatedRun {
  readonly seed: number
  readonly frames: readonly Frame[]
  readonly executions: readonly Execution[]
  /** How many processes drove it. */
  readonly processes: number
}

const STEPS_MAX = 3000
const RUN_ID = 'run_sim'

/** One run from its start to its end, with everything around it: all of it follows from the seed. */
export async function simulate(seed: number): Promise<SimulatedRun> {
  const random = new Random(seed ^ 0x5eed)
  const clock = new SimulatedClock()
  const frames: Frame[] = []
  const executions: Execution[] = []
  const memory = { responses: 0, calls: 0 }
  const crashRate = random.pick([0, 0.02, 0.08])
  let processes = 0
  for (let steps = 0; frames.at(-1)?.type !== 'run_ended';) {
    processes += 1
    // A run that dies again and again is let live at last.
    const process = new SimulatedProcess(clock, frames, random, processes > 30 ? 0 : crashRate)
    const agent = simulatedAgent(seed, random, memory, process.clock, (name, key) => {
      if (!process.isDead) executions.push({ name, key, at: frames.length })
    })
    const driver = driverOf(agent, process, frames)
    steps = await follow(driver, process, clock, random, steps)
    if (steps > STEPS_MAX)
      throw new Error(`seed ${seed}: the run does not end, it is in ${driver.snapshot.state}`)
    clock.advance(random.pick([0, 10, 3000]))
  }
  return { seed, frames, executions, processes }
}

function driverOf(agent: Agent, { journal }: SimulatedProcess, frames: readonly Frame[]): Driver {
  const { now } = agent.clock
  if (frames.length === 0) {
    const stamp = new FrameStamp(RUN_ID, now)
    const input = loopInput(agent, 'go')
    const started = startFrame(stamp, agent, input.deadlineAt)
    return new Driver({ runId: RUN_ID, agent, journal, stamp, input, started })
  }
  const restored = restoreRun(JSON.parse(JSON.stringify(frames)) as Frame[])
  const stamp = new FrameStamp(RUN_ID, now, restored.last)
  return new Driver({ runId: RUN_ID, agent, journal, stamp, restored })
}

function startFrame(stamp: FrameStamp, agent: Agent, deadlineAt: number | null): Frame {
  return makeFrame(stamp, 'run_started', {
    input: 'go',
    agent: plain(agent.description) ?? {},
    model: agent.models.map(({ name }) => name).join(', '),
    limits: { ...agent.settings.limits, wall_time_ms: agent.wallTimeMs },
    settings: plain(agent.settings) ?? {},
    deadline_at: deadlineAt,
    continuity: agent.continuity,
    chart_version: '1',
    chart_hash: '',
    parent: null,
  })
}

/** Lets time pass and people speak until the process is done with the run, or dead. */
async function follow(
  driver: Driver,
  process: SimulatedProcess,
  clock: SimulatedClock,
  random: Random,
  before: number,
): Promise<number> {
  let isDone = false
  let failure: unknown = null
  void driver
    .run()
    .catch((error: unknown) => {
      failure = error
    })
    .finally(() => {
      isDone = true
    })
  let steps = before
  for (let idle = 0; steps <= STEPS_MAX; steps += 1) {
    await immediate()
    await immediate()
    if (failure !== null) throw failure
    if (isDone || process.isDead) break
    if (random.chance(0.01)) {
      void process.journal.die()
      break
    }
    const command = commandNow(driver, random, idle)
    idle = command === null && clock.armed.length === 0 ? idle + 1 : 0
    if (command !== null) void process.journal.send(command)
    else advance(clock)
  }
  return steps
}

function advance(clock: SimulatedClock): void {
  const [next] = clock.armed
  if (next !== undefined) clock.advance(Math.max(0, next - clock.now()))
}

function commandNow({ snapshot }: Driver, random: Random, idle: number): LoopCommand | null {
  const { state, context } = snapshot
  const callId = context.calls.length === 0 ? 'call_0' : random.pick(context.calls).callId
  if (idle > 2 || random.chance(0.008)) {
    return random.chance(0.5) ? { type: 'run.cancel' } : { type: 'run.cancel', reason: 'enough' }
  }
  if (random.chance(0.03)) return { type: 'run.steer', text: random.pick(['hurry', 'Grün!']) }
  if (state.endsWith('awaitingApproval') || random.chance(0.03)) {
    return random.chance(0.7)
      ? { type: 'call.approve', callId }
      : { type: 'call.deny', callId, reason: random.pick(['', 'no', 'not now']) }
  }
  if (state.endsWith('reconciling') || random.chance(0.02)) {
    const as = random.pick(['done', 'failed', 'rerun'] as const)
    return as === 'rerun'
      ? { type: 'call.reconcile', callId, as }
      : { type: 'call.reconcile', callId, as, output: 'somebody says so' }
  }
  return null
}
