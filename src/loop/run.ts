import { randomUUID } from 'node:crypto'

import { CHART_VERSION, loopMachine } from '../../machines/loop.machine.ts'
import { loopOutput } from '../../machines/loop.rules.ts'
import type { CommandAnswer, LoopCommand, LoopInput, LoopOutput } from '../../machines/loop.types.ts'
import { can } from '../chart/can.ts'
import { chartHash } from '../chart/chart-hash.ts'
import { explain, type Explanation } from '../chart/explain.ts'
import type { LoopSnapshot } from '../chart/loop-snapshot.ts'
import { LoopchartError } from '../errors.ts'
import { FrameStamp } from '../frames/frame-stamp.ts'
import type { Frame } from '../frames/generated/frame.ts'
import { makeFrame } from '../frames/make-frame.ts'
import { MemoryJournal } from '../journal/memory-journal.ts'
import type { Agent } from './agent.ts'
import { plain } from './decisions.ts'
import { Driver, type Suspension } from './drive.ts'
import { loopInput } from './provide-loop.ts'
import type { CallSummary } from './restore-run.ts'
import type { RunInput } from './run-input.ts'

export interface RunOptions {
  /** Names the run in its log; a random one when left out. */
  readonly runId?: string
  /** Cancels the run. */
  readonly signal?: AbortSignal
}

/** What became of a run. */
export type RunResult = EndedRun | SuspendedRun

export interface EndedRun extends LoopOutput {
  readonly status: 'ended'
  readonly calls: readonly CallSummary[]
}

/** A run that has not ended and that nobody drives any more: it waits for longer than a process should. */
export interface SuspendedRun extends Omit<LoopOutput, 'state' | 'reason'> {
  readonly status: 'suspended'
  /** Where the chart is, as a dotted path. */
  readonly state: string
  readonly reason: Suspension['reason']
  /** When it is worth going on, in milliseconds of the wall clock. */
  readonly retryAt: number | null
  readonly calls: readonly CallSummary[]
}

/** A run under way. Readers come and go; the run goes on without them. */
export interface Run extends AsyncIterable<Frame> {
  readonly id: string
  /** Resolves when the run has ended, in whatever state; rejects only for a bug. */
  readonly result: Promise<RunResult>
  /** The state as a dotted path, such as `working.responding.streaming`. */
  readonly state: string
  /** Every frame from a number on. */
  frames(from?: number): AsyncIterable<Frame>
  /** The answer's text as it is written, that of an attempt that broke off and was made again included. */
  textStream(): AsyncIterable<string>
  /** Where the run is, why, and what it waits for. */
  explain(): Explanation
  /** What would be answered to a command now. */
  can(command: LoopCommand): CommandAnswer
  approve(callId: string): Promise<CommandAnswer>
  deny(callId: string, reason: string): Promise<CommandAnswer>
  /** Says what became of a call whose outcome is unknown. */
  reconcile(callId: string, as: 'done' | 'failed' | 'rerun', output?: string): Promise<CommandAnswer>
  /** Gives the model a message with the next request. */
  steer(text: string): Promise<CommandAnswer>
  cancel(reason?: string): Promise<CommandAnswer>
}

/** Runs an agent on an input. Wrong input throws at once; everything else is how the run ends. */
export function run(agent: Agent, input: RunInput, options: RunOptions = {}): Run {
  const started = loopInput(agent, input)
  const { runId } = options
  if (runId !== undefined && (typeof runId !== 'string' || runId === '')) {
    throw new LoopchartError('usage', 'runId must be a text that is not empty')
  }
  options.signal?.throwIfAborted()
  return new LiveRun(agent, input, started, options)
}

class LiveRun implements Run {
  readonly id: string
  readonly result: Promise<RunResult>
  readonly #journal: MemoryJournal
  readonly #driver: Driver

  constructor(agent: Agent, input: RunInput, started: LoopInput, options: RunOptions) {
    this.id = options.runId ?? randomUUID()
    this.#journal = new MemoryJournal(agent.clock)
    const stamp = new FrameStamp(this.id, () => agent.clock.now())
    this.#driver = new Driver({
      runId: this.id,
      agent,
      input: started,
      journal: this.#journal,
      stamp,
      started: startFrame(stamp, agent, input, started),
    })
    const { signal } = options
    const onAbort = (): void => void this.cancel('aborted')
    signal?.addEventListener('abort', onAbort, { once: true })
    this.result = this.#finish().finally(() => signal?.removeEventListener('abort', onAbort))
    // A result that nobody asks for is not an unhandled rejection.
    this.result.catch(() => undefined)
  }

  get state(): string {
    return this.#driver.snapshot.state
  }

  [Symbol.asyncIterator](): AsyncIterator<Frame> {
    return this.#journal.log.read()
  }

  frames(from = 0): AsyncIterable<Frame> {
    return this.#journal.log.read(from)
  }

  textStream(): AsyncIterable<string> {
    return this.#journal.log.readText()
  }

  explain(): Explanation {
    return explain(this.#driver.snapshot)
  }

  can(command: LoopCommand): CommandAnswer {
    return can(this.#driver.snapshot, command)
  }

  approve(callId: string): Promise<CommandAnswer> {
    return this.#journal.send({ type: 'call.approve', callId })
  }

  deny(callId: string, reason: string): Promise<CommandAnswer> {
    return this.#journal.send({ type: 'call.deny', callId, reason })
  }

  reconcile(callId: string, as: 'done' | 'failed' | 'rerun', output = ''): Promise<CommandAnswer> {
    return this.#journal.send(
      as === 'rerun'
        ? { type: 'call.reconcile', callId, as }
        : { type: 'call.reconcile', callId, as, output },
    )
  }

  steer(text: string): Promise<CommandAnswer> {
    if (typeof text !== 'string' || text === '') throw new LoopchartError('usage', 'steer needs a text')
    return this.#journal.send({ type: 'run.steer', text })
  }

  cancel(reason?: string): Promise<CommandAnswer> {
    return this.#journal.send(reason === undefined ? { type: 'run.cancel' } : { type: 'run.cancel', reason })
  }

  async #finish(): Promise<RunResult> {
    try {
      await this.#driver.run()
    } catch (error) {
      await this.#journal.close()
      throw error
    }
    const { snapshot, suspension, calls } = this.#driver
    const { output } = snapshot
    if (suspension !== null) return { ...suspendedRun(snapshot, suspension), calls }
    if (output === undefined) throw new Error('the chart ended without an output')
    return { status: 'ended', ...output, calls }
  }
}

function suspendedRun(
  { state, context }: LoopSnapshot,
  { reason, retryAt }: Suspension,
): Omit<SuspendedRun, 'calls'> {
  return {
    ...loopOutput(context),
    status: 'suspended',
    state,
    reason,
    retryAt,
    message: context.error?.message ?? '',
  }
}

function startFrame(stamp: FrameStamp, agent: Agent, input: RunInput, started: LoopInput): Frame {
  const { limits } = agent.settings
  return makeFrame(stamp, 'run_started', {
    input: typeof input === 'string' ? input : input.map((part) => ({ ...part })),
    agent: { tools: agent.tools.definitions.map((definition) => definition['name'] ?? null) },
    model: agent.models.map(({ name }) => name).join(', '),
    limits: { ...limits, wall_time_ms: agent.wallTimeMs },
    settings: plain(agent.settings) ?? {},
    deadline_at: started.deadlineAt,
    continuity: agent.continuity,
    chart_version: CHART_VERSION,
    chart_hash: chartHash(loopMachine),
  })
}
