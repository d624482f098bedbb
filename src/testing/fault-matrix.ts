import { systemClock } from '../clock.ts'
import type { Frame } from '../frames/generated/frame.ts'
import type { Agent } from '../loop/agent.ts'
import type { Model } from '../loop/model.ts'
import { run, type Run } from '../loop/run.ts'
import { parseJson } from '../protocol/json.ts'
import { parseRequest } from '../protocol/parse-request.ts'
import { responseEvents } from '../provider/scripted/response-events.ts'
import type { ScriptTurn } from '../provider/scripted/script.ts'
import { allElse } from './all-else.ts'
import { faultSituations, type Situation } from './fault-situations.ts'
import { checkFrames, type Violation } from './invariants.ts'
import { pathPlan, type PathOptions } from './loop-paths.ts'
import { PROVIDER_FAULTS, type ProviderFault } from './provider-faults.ts'
import { sendInProcess } from './send-in-process.ts'
import { SimulatedClock } from './simulated-clock.ts'

export interface MatrixOptions extends PathOptions {
  /** How long one run may take in real time; 10,000 when left out. */
  readonly patienceMs?: number
}

/** What came of one fault in one situation. */
export interface MatrixCell {
  /** How the run had come to the request that the fault strikes. */
  readonly situation: string
  /** The state in which it struck. */
  readonly state: string
  readonly fault: string
  /** Where the run ended, and why. */
  readonly end: string
  readonly reason: string
  readonly requests: number
  readonly toolCalls: number
}

export interface FaultMatrix {
  readonly cells: readonly MatrixCell[]
  /** What no run may do and one did; empty when all is well. */
  readonly violations: readonly Violation[]
}

/**
 * Lets a provider do everything wrong that it can, in every situation in which an agent waits for one, and holds each
 * run against what must hold. Tools are the agent's own, and really run.
 */
export async function faultMatrix(agent: Agent, options: MatrixOptions = {}): Promise<FaultMatrix> {
  const { patienceMs = 10_000 } = options
  const plan = await pathPlan(agent, options)
  const cells: MatrixCell[] = []
  const violations: Violation[] = []
  for (const situation of faultSituations(plan)) {
    for (const fault of PROVIDER_FAULTS) {
      const where = `${situation.name}: ${fault.name}`
      const cell = new CellRun(agent, situation, fault)
      const live = run(cell.agent, plan.input, { runId: 'run_cell' })
      const isLate = await cell.follow(live, patienceMs)
      if (isLate)
        violations.push({
          where,
          rule: 'in_time',
          detail: `the run was in ${live.state} after ${patienceMs} ms`,
        })
      violations.push(...checkFrames(where, cell.frames))
      cells.push(cellOf(situation, fault, cell.frames))
    }
  }
  return { cells, violations }
}

/** One run of the matrix: who answers its requests, and who answers its questions. */
class CellRun {
  readonly agent: Agent
  readonly frames: Frame[] = []
  readonly #clock = new SimulatedClock()
  readonly #situation: Situation
  readonly #fault: ProviderFault
  #requests = 0
  #live: Run | null = null

  constructor(agent: Agent, situation: Situation, fault: ProviderFault) {
    this.#situation = situation
    this.#fault = fault
    const models = agent.models.map((model) => this.#standIn(model))
    this.agent = { ...agent, models, clock: this.#clock, random: () => 0.5 }
  }

  /** Follows a run to its end; true when it had to be stopped. */
  async follow(live: Run, patienceMs: number): Promise<boolean> {
    this.#live = live
    let isLate = false
    const disarm = systemClock.setTimer(systemClock.now() + patienceMs, () => {
      isLate = true
      void live.cancel('it took too long')
    })
    for await (const frame of live) {
      this.frames.push(frame)
      await this.#react(live, frame)
    }
    disarm()
    await live.result
    return isLate
  }

  async #react(live: Run, frame: Frame): Promise<void> {
    const { decision, cancelsRetry, steers } = this.#situation
    if (frame.type === 'approval_requested') {
      if (decision === 'approve') await live.approve(frame.call_id)
      else await live.deny(frame.call_id, 'not in this test')
    } else if (frame.type === 'retry_scheduled') {
      await allElse()
      if (cancelsRetry) await live.cancel()
      else this.#clock.advance(Math.max(0, (this.#clock.armed[0] ?? 0) - this.#clock.now()))
    } else if (frame.type === 'state_entered' && frame.state === 'stopping') {
      await allElse()
      this.#clock.advance(2000)
    } else if (frame.type === 'request_sent' && frame.turn === 1 && frame.attempt === 0 && steers) {
      await live.steer('one more thing')
    }
  }

  #standIn({ name, canContinueById }: Model): Model {
    return {
      name,
      endpoint: 'matrix:',
      isStreamed: true,
      canContinueById,
      send: async (request) => {
        this.#requests += 1
        const plan = {
          request: parseRequest(parseJson(request.body)),
          responseId: `resp_${this.#requests}`,
          createdAt: 0,
        }
        const turn = this.#turn((given) => responseEvents({ ...plan, turn: given }).events)
        await Promise.resolve()
        return sendInProcess(request, { ...plan, turn, clock: this.#clock, onStall: () => void this.#wake() })
      },
    }
  }

  #turn(eventsOf: (turn: ScriptTurn) => ReturnType<typeof responseEvents>['events']): ScriptTurn {
    const { before, struck, after } = this.#situation
    const at = this.#requests - 1
    if (at < before.length) return before[at] ?? after
    if (at > before.length) return after
    return this.#fault.instead(struck, eventsOf(struck))
  }

  /** Nothing more comes: the limit of time ends it, or, without one, somebody who has waited long enough. */
  async #wake(): Promise<void> {
    await allElse()
    const { wallTimeMs } = this.agent
    if (wallTimeMs === null) await this.#live?.cancel('nothing more came')
    else this.#clock.advance(wallTimeMs)
  }
}

function cellOf(situation: Situation, fault: ProviderFault, frames: readonly Frame[]): MatrixCell {
  const last = frames.at(-1)
  const sent = frames.flatMap((frame, at) => (frame.type === 'request_sent' ? [at] : []))
  return {
    situation: situation.name,
    state: stateOf(frames, sent[situation.before.length] ?? 0),
    fault: fault.name,
    end: last?.type === 'run_ended' ? last.state : 'none',
    reason: last?.type === 'run_ended' ? last.reason : 'none',
    requests: sent.length,
    toolCalls: frames.filter(({ type }) => type === 'tool_started').length,
  }
}

/** The last state of a request before something came of it. */
function stateOf(frames: readonly Frame[], from: number): string {
  let state = 'working.responding.requesting'
  for (const frame of frames.slice(from + 1)) {
    if (frame.type === 'response_settled') break
    if (frame.type !== 'state_entered') continue
    if (!frame.state.startsWith('working.responding.')) break
    state = frame.state
  }
  return state
}
