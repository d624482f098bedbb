import type { Clock } from '../clock.ts'
import { LoopchartError } from '../errors.ts'
import type { RunStartedFrame } from '../frames/generated/frame.ts'
import type { RunStore } from '../journal/run-store.ts'
import type { Agent } from '../loop/agent.ts'
import type { RunInput } from '../loop/run-input.ts'
import { startRun, type RunResult, type StartedRun } from '../loop/run.ts'
import type { Suspension } from '../loop/suspension.ts'
import { letGo } from './let-go.ts'
import type { Metrics } from './metrics.ts'
import { narrowLimits, type AskedLimits } from './narrow-limits.ts'
import { tooMany } from './request-refusal.ts'
import type { DrivenRuns } from './run-feed.ts'

export interface RunRegistryOptions {
  readonly agents: ReadonlyMap<string, Agent>
  readonly store: RunStore
  readonly runsMax: number
  readonly clock: Clock
  readonly metrics: Metrics
  /** Takes a line about what went wrong where nobody asked. */
  readonly log: (line: string) => void
  /** Hears of each run that is driven here from now on, and of the first frame that is written here. */
  readonly onRun: (run: StartedRun, from: number) => void
}

/** A run to begin. */
export interface NewRun {
  readonly runId: string
  readonly agent: string
  readonly input: RunInput
  readonly limits: AskedLimits
  readonly requestHash: string
}

type Answering = ReturnType<StartedRun['cancel']>

type ServiceMark = NonNullable<RunStartedFrame['service']>

// Readers that keep up take what is written at once; those who are further back read from the store.
const RECENT_FRAMES = 16
const RETRY_SECONDS = 5
const NAMES_MAX = 100_000

/** The runs that are driven here, by id; and those that will be again when their time has come. */
export class RunRegistry implements DrivenRuns {
  readonly #options: RunRegistryOptions
  readonly #live = new Map<string, StartedRun>()
  readonly #marks = new Map<string, ServiceMark>()
  readonly #agentNames = new Map<string, string | null>()
  readonly #cancels = new WeakMap<StartedRun, Answering>()
  readonly #wakes = new Map<string, Set<() => void>>()
  readonly #suspended = new Map<string, Suspension>()
  readonly #timers = new Map<string, () => void>()
  /** Those that go on as soon as there is room. */
  readonly #waiting = new Set<string>()
  #isClosing = false

  constructor(options: RunRegistryOptions) {
    this.#options = options
  }

  get count(): number {
    return this.#live.size
  }

  live(runId: string): StartedRun | null {
    return this.#live.get(runId) ?? null
  }

  onDriven(runId: string, wake: () => void): () => void {
    const wakes = this.#wakes.get(runId) ?? new Set()
    this.#wakes.set(runId, wakes.add(wake))
    return () => {
      wakes.delete(wake)
      if (wakes.size === 0 && this.#wakes.get(runId) === wakes) this.#wakes.delete(runId)
    }
  }

  /** Why a run was let go of here; null: it was not, or goes on. */
  suspensionOf(runId: string): Suspension | null {
    return this.#suspended.get(runId) ?? null
  }

  /** What a service noted on a run when it began; null: none began it. Throws `run_unknown`, `log_corrupt`. */
  markOf(runId: string): ServiceMark | null {
    const known = this.#marks.get(runId)
    if (known !== undefined) return known
    const cursor = this.#options.store.cursor(runId, 0)
    const [first] = cursor.take(1)
    cursor.close()
    return first?.type === 'run_started' ? (first.service ?? null) : null
  }

  /** The name of the agent that a service began a run with; null: none did. A log that cannot be read has none. */
  agentOf(runId: string): string | null {
    const known = this.#agentNames.get(runId)
    if (known !== undefined) return known
    let name: string | null
    try {
      name = this.markOf(runId)?.agent ?? null
    } catch {
      return null
    }
    // A run has its agent for good; the list asks for it again and again.
    if (this.#agentNames.size >= NAMES_MAX) this.#agentNames.clear()
    this.#agentNames.set(runId, name)
    return name
  }

  /** Whether there is an agent of that name. */
  has(agent: string | null | undefined): boolean {
    return agent != null && this.#options.agents.has(agent)
  }

  /** Begins a run. Throws what `startRun` throws, `too_many`, `service_closing`. It is in no log before `begun`. */
  start({ runId, agent: name, input, limits, requestHash }: NewRun): StartedRun {
    this.checkRoom()
    const { store, metrics } = this.#options
    const service = { agent: name, request_hash: requestHash }
    const agent = narrowLimits(this.agent(name), limits)
    const run = startRun(agent, input, { store, runId, recentFrames: RECENT_FRAMES, service })
    metrics.runStarted()
    this.#marks.set(runId, service)
    this.#drive(run)
    return run
  }

  /** Goes on with a stored run. Throws what `startRun` throws, and as `start` does. */
  takeUp(runId: string): StartedRun {
    const live = this.#live.get(runId)
    if (live !== undefined) return live
    this.checkRoom()
    const { store, metrics } = this.#options
    const mark = this.markOf(runId)
    const agent = mark === null ? undefined : this.#options.agents.get(mark.agent)
    if (mark === null || agent === undefined) {
      throw new LoopchartError('resume_refused', `run ${runId} belongs to no agent of this service`)
    }
    const run = startRun(agent, { resume: runId }, { store, recentFrames: RECENT_FRAMES })
    metrics.runTakenUp()
    this.#marks.set(runId, mark)
    this.#suspended.delete(runId)
    this.#waiting.delete(runId)
    this.#disarm(runId)
    this.#drive(run)
    return run
  }

  /** Goes on with a stored run now or, where there is no room, as soon as there is; says whether it was now. */
  takeUpInTurn(runId: string): boolean {
    if (this.#live.size >= this.#options.runsMax && !this.#isClosing) {
      this.#waiting.add(runId)
      return false
    }
    this.takeUp(runId)
    return true
  }

  /** Cancels a run once, however often and however soon it is asked for: all have the same answer. */
  cancelOnce(run: StartedRun, cancel: () => Answering): Answering {
    const known = this.#cancels.get(run)
    if (known !== undefined) return known
    const answering = cancel()
    this.#cancels.set(run, answering)
    void answering.then(({ answer }) => (answer === 'refused' ? this.#cancels.delete(run) : false))
    return answering
  }

  /** An agent by name. Throws `usage` when there is none. */
  agent(name: string): Agent {
    const agent = this.#options.agents.get(name)
    if (agent !== undefined) return agent
    throw new LoopchartError('usage', `there is no agent ${JSON.stringify(name.slice(0, 100))}`)
  }

  /** Throws when no further run is driven here. */
  checkRoom(): void {
    const { runsMax } = this.#options
    if (this.#isClosing) throw new LoopchartError('service_closing', 'the service is being stopped')
    if (this.#live.size >= runsMax) throw tooMany(`there are ${runsMax} runs at work already`, RETRY_SECONDS)
  }

  /** From here on nothing is begun or taken up. */
  refuseRuns(): void {
    this.#isClosing = true
    for (const disarm of this.#timers.values()) disarm()
    this.#timers.clear()
    this.#waiting.clear()
  }

  /** Lets go of every run; resolves when all are. Calls that are at work have so long to come to their end. */
  async suspendAll(callsEndWithinMs: number): Promise<void> {
    const { clock } = this.#options
    const until = Promise.withResolvers<void>()
    const disarm = clock.setTimer(clock.now() + callsEndWithinMs, until.resolve)
    await Promise.allSettled([...this.#live.values()].map((run) => letGo(run, until.promise)))
    disarm()
  }

  #drive(run: StartedRun): void {
    this.#live.set(run.id, run)
    for (const wake of this.#wakes.get(run.id) ?? []) wake()
    this.#options.onRun(run, run.log.length)
    void run.result.then(
      (result) => this.#left(run, result),
      (error: unknown) => {
        this.#forget(run)
        this.#options.metrics.runLeft('broken')
        this.#options.log(`run ${run.id} broke off: ${error instanceof Error ? error.message : 'unknown'}`)
      },
    )
  }

  #left(run: StartedRun, result: RunResult): void {
    this.#forget(run)
    this.#options.metrics.runLeft(result.status === 'ended' ? result.state : 'suspended')
    if (result.status === 'ended' || this.#isClosing) return
    const { reason, message, retryAt } = result
    this.#suspended.set(run.id, { reason, message, retryAt })
    if (retryAt !== null) this.#arm(run.id, retryAt)
  }

  #forget(run: StartedRun): void {
    if (this.#live.get(run.id) !== run) return
    this.#live.delete(run.id)
    this.#marks.delete(run.id)
    const [next] = this.#waiting
    if (next === undefined) return
    this.#waiting.delete(next)
    this.#goOn(next)
  }

  #goOn(runId: string): void {
    try {
      this.takeUpInTurn(runId)
    } catch (error) {
      const reason = error instanceof Error ? error.message : 'unknown'
      this.#options.log(`run ${runId} was not taken up again: ${reason}`)
    }
  }

  #arm(runId: string, atMs: number): void {
    const fire = (): void => {
      this.#timers.delete(runId)
      this.#goOn(runId)
    }
    this.#timers.set(runId, this.#options.clock.setTimer(atMs, fire))
  }

  #disarm(runId: string): void {
    this.#timers.get(runId)?.()
    this.#timers.delete(runId)
  }
}

/** Resolves when the log of a run has its first frame. Rejects when it never will: the store cannot be written. */
export async function begun(run: StartedRun): Promise<void> {
  const cursor = run.log.cursor(0)
  try {
    while (run.log.length === 0 && !cursor.isEnded) await Promise.race([cursor.changed(), run.result])
  } finally {
    cursor.close()
  }
  if (run.log.length === 0) await run.result
}
