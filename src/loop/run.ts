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
import type { Frame, RunStartedFrame } from '../frames/generated/frame.ts'
import { makeFrame } from '../frames/make-frame.ts'
import type { ReadableLog } from '../journal/frame-cursor.ts'
import { MemoryJournal } from '../journal/memory-journal.ts'
import { openStore } from '../journal/open-store.ts'
import type { LogOptions, RunJournal, RunStore } from '../journal/run-store.ts'
import { ownText } from '../stream/own-text.ts'
import type { Agent } from './agent.ts'
import { Children, type AnswerOptions, type CallPath, type ChildRun, type ParentCall } from './children.ts'
import { checkResume } from './check-resume.ts'
import { plain } from './decisions.ts'
import { Driver } from './drive.ts'
import { loopInput } from './loop-input.ts'
import type { CallSummary } from './restore-run.ts'
import type { RunInput } from './run-input.ts'
import type { Suspension } from './suspension.ts'

export interface RunOptions {
  /** Names the run in its log; a random one when left out. */
  readonly runId?: string
  /** Cancels the run. */
  readonly signal?: AbortSignal
  /** Where it is kept, or the path of a file for that; in memory without it. */
  readonly store?: RunStore | string
}

/** A stored run to go on with. */
export interface ResumeInput {
  /** Its id. */
  readonly resume: string
}

/** What became of a run. */
export type RunResult = EndedRun | SuspendedRun

export interface EndedRun extends LoopOutput {
  readonly status: 'ended'
  readonly calls: readonly CallSummary[]
}

/** A run that has not ended and that nobody drives any more. One with a store can be resumed. */
export interface SuspendedRun extends Omit<LoopOutput, 'state' | 'reason' | 'message'>, Suspension {
  readonly status: 'suspended'
  /** Where the chart is, as a dotted path. */
  readonly state: string
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
  /**
   * The same in lists of as many as there are at the moment, never empty: a long answer has tens of thousands, and waiting for
   * each by itself costs more than making it.
   */
  batches(from?: number): AsyncIterable<readonly Frame[]>
  /** The answer's text as it is written, that of an attempt that broke off and was made again included. */
  textStream(): AsyncIterable<string>
  /** Where the run is, why, and what it waits for. */
  explain(): Explanation
  /** What would be answered to a command now. */
  can(command: LoopCommand): CommandAnswer
  /** Runs that are the work of a call, by its id, while they are at work. */
  readonly children: ReadonlyMap<string, ChildRun>
  /** Says yes to a call that waits for it, by its id or by the `path` of the question. */
  approve(call: CallPath, options?: AnswerOptions): Promise<CommandAnswer>
  /** Says no; the model is told why. */
  deny(call: CallPath, reason: string, options?: AnswerOptions): Promise<CommandAnswer>
  /** Says what became of a call whose outcome is unknown. */
  reconcile(call: CallPath, as: 'done' | 'failed' | 'rerun', output?: string): Promise<CommandAnswer>
  /** Gives the model a message with the next request. */
  steer(text: string): Promise<CommandAnswer>
  cancel(reason?: string): Promise<CommandAnswer>
  /**
   * Lets go of the run where it is, to be resumed later: what is at work is aborted, nothing further starts. False when
   * it has ended before.
   */
  suspend(): Promise<boolean>
}

/**
 * Runs an agent on an input, or goes on with a stored run. Wrong input throws at once, and so does a run that cannot be
 * taken up; everything else is how the run ends.
 */
export function run(agent: Agent, input: RunInput | ResumeInput, options: RunOptions = {}): Run {
  return startRun(agent, input, options)
}

export interface StartOptions extends RunOptions {
  /** The call that the run is the work of. */
  readonly parent?: ParentCall
  /**
   * The conversation that it is a part of, for its log. With a `previous_response_id` the run goes on from that response,
   * which has all but the last item of the input, where its agent continues responses by id.
   */
  readonly conversation?: NonNullable<RunStartedFrame['conversation']>
  /** What the service that begins the run wants to know of it later, for its log. */
  readonly service?: NonNullable<RunStartedFrame['service']>
  /**
   * About how many of the latest frames stay in memory, in the runs of its calls as well; all of them when left out, and
   * without a store. Readers get those before from the store, as long as it is open.
   */
  readonly recentFrames?: number
}

/** A run with its log, for readers who take what they can. */
export interface StartedRun extends Run {
  readonly log: ReadableLog
}

/** Runs an agent for somebody who has more to say about the run than its user. */
export function startRun(agent: Agent, input: RunInput | ResumeInput, options: StartOptions): StartedRun {
  checkOptions(options)
  if (isResume(input)) return new LiveRun(takeUp(agent, input.resume, options), options)
  const started = loopInput(agent, input, options.conversation?.previous_response_id ?? null)
  options.signal?.throwIfAborted()
  return new LiveRun(begin(agent, input, started, options), options)
}

function checkOptions({ runId, recentFrames = 1 }: StartOptions): void {
  if (runId !== undefined && (typeof runId !== 'string' || runId === '')) {
    throw new LoopchartError('usage', 'runId must be a text that is not empty')
  }
  if (!Number.isSafeInteger(recentFrames) || recentFrames < 1) {
    throw new LoopchartError('usage', 'recentFrames must be a whole number above 0')
  }
}

function isResume(input: unknown): input is ResumeInput {
  return typeof input === 'object' && input !== null && !Array.isArray(input) && 'resume' in input
}

/** What a run consists of before it runs. */
interface RunParts {
  readonly id: string
  readonly journal: RunJournal
  readonly driver: Driver
  readonly children: Children
  /** Lets go of a store that was opened for this run alone. */
  readonly release: () => void
}

function begin(agent: Agent, input: RunInput, started: LoopInput, options: StartOptions): RunParts {
  // Node puts it together of twenty parts, which would all be kept with it.
  const id = options.runId ?? ownText(randomUUID())
  const { store, release } = storeOf(options)
  try {
    const journal = store?.create(id, agent.clock, logOptions(options)) ?? new MemoryJournal(agent.clock)
    const stamp = new FrameStamp(id, () => agent.clock.now())
    const frame = startFrame(stamp, agent, { input, started, ...options })
    const children = childrenOf(store, options)
    const driver = new Driver({ runId: id, agent, journal, stamp, children, input: started, started: frame })
    return { id, journal, driver, children, release }
  } catch (error) {
    release()
    throw error
  }
}

function takeUp(agent: Agent, id: string, options: StartOptions): RunParts {
  const { store, release } = storeOf(options)
  if (store === null) throw new LoopchartError('usage', 'a run is resumed from a store: give one')
  let journal: RunJournal | null = null
  try {
    const taken = store.take(id, agent.clock, logOptions(options))
    journal = taken.journal
    const { verdict, reasons, restored } = checkResume(taken.frames, agent)
    if (verdict === 'refused' || restored === null) {
      throw new LoopchartError('resume_refused', `run ${id} cannot go on: ${reasons.join('; ')}`)
    }
    const stamp = new FrameStamp(id, () => agent.clock.now(), restored.last)
    const children = childrenOf(store, options)
    const driver = new Driver({ runId: id, agent, journal, stamp, children, restored })
    return { id, journal, driver, children, release }
  } catch (error) {
    void journal?.close()
    release()
    throw error
  }
}

function childrenOf(store: RunStore | null, { recentFrames }: StartOptions): Children {
  const inherited = recentFrames === undefined ? {} : { recentFrames }
  return new Children(store, (agent, input, options) => startRun(agent, input, { ...options, ...inherited }))
}

function logOptions({ recentFrames }: StartOptions): LogOptions {
  return recentFrames === undefined ? {} : { recent: recentFrames }
}

interface UsedStore {
  readonly store: RunStore | null
  readonly release: () => void
}

function storeOf({ store }: RunOptions): UsedStore {
  if (typeof store !== 'string') return { store: store ?? null, release: nothing }
  const opened = openStore(store)
  return { store: opened, release: () => opened.close() }
}

function nothing(): void {
  // A store that somebody else opened is theirs to close.
}

class LiveRun implements StartedRun {
  readonly id: string
  readonly result: Promise<RunResult>
  readonly #journal: RunJournal
  readonly #driver: Driver
  readonly #children: Children

  constructor({ id, journal, driver, children, release }: RunParts, { signal }: RunOptions) {
    this.id = id
    this.#journal = journal
    this.#driver = driver
    this.#children = children
    const onAbort = (): void => void this.cancel('aborted')
    signal?.addEventListener('abort', onAbort, { once: true })
    this.result = this.#finish().finally(() => {
      signal?.removeEventListener('abort', onAbort)
      release()
    })
    // A result that nobody asks for is not an unhandled rejection.
    this.result.catch(() => undefined)
  }

  get state(): string {
    return this.#driver.snapshot.state
  }

  get log(): ReadableLog {
    return this.#journal.log
  }

  [Symbol.asyncIterator](): AsyncIterator<Frame> {
    return this.#journal.log.read()
  }

  frames(from = 0): AsyncIterable<Frame> {
    return this.#journal.log.read(from)
  }

  batches(from = 0): AsyncIterable<readonly Frame[]> {
    return this.#journal.log.readBatches(from)
  }

  textStream(): AsyncIterable<string> {
    return this.#journal.log.readText()
  }

  explain(): Explanation {
    const own = explain(this.#driver.snapshot)
    const inner = [...this.#children.live].flatMap(([callId, child]) =>
      child.explain().waitsFor.map((what) => `${what}, in the run of call ${callId}`),
    )
    return { ...own, waitsFor: [...own.waitsFor, ...inner] }
  }

  can(command: LoopCommand): CommandAnswer {
    return can(this.#driver.snapshot, command)
  }

  get children(): ReadonlyMap<string, ChildRun> {
    return this.#children.live
  }

  approve(call: CallPath, options: AnswerOptions = {}): Promise<CommandAnswer> {
    const said = answerOptions(options)
    return this.#route(
      call,
      (callId) => this.#journal.send({ type: 'call.approve', callId, ...said }),
      (child, path) => child.approve(path, said),
    )
  }

  deny(call: CallPath, reason: string, options: AnswerOptions = {}): Promise<CommandAnswer> {
    const said = answerOptions(options)
    return this.#route(
      call,
      (callId) => this.#journal.send({ type: 'call.deny', callId, reason, ...said }),
      (child, path) => child.deny(path, reason, said),
    )
  }

  reconcile(call: CallPath, as: 'done' | 'failed' | 'rerun', output = ''): Promise<CommandAnswer> {
    const how = as === 'rerun' ? { as } : { as, output }
    return this.#route(
      call,
      (callId) => this.#journal.send({ type: 'call.reconcile', callId, ...how }),
      (child, path) => child.reconcile(path, as, output),
    )
  }

  /** A command about a call of this run, or about one further in. */
  #route(
    call: CallPath,
    own: (callId: string) => Promise<CommandAnswer>,
    inner: (child: ChildRun, path: readonly string[]) => Promise<CommandAnswer>,
  ): Promise<CommandAnswer> {
    const [callId = '', ...rest] = typeof call === 'string' ? [call] : call
    if (rest.length === 0) return own(callId)
    const child = this.#children.live.get(callId)
    if (child !== undefined) return inner(child, rest)
    return Promise.resolve({ answer: 'refused', reason: `call ${callId} has no run at work` })
  }

  steer(text: string): Promise<CommandAnswer> {
    if (typeof text !== 'string' || text === '') throw new LoopchartError('usage', 'steer needs a text')
    return this.#journal.send({ type: 'run.steer', text })
  }

  cancel(reason?: string): Promise<CommandAnswer> {
    return this.#journal.send(reason === undefined ? { type: 'run.cancel' } : { type: 'run.cancel', reason })
  }

  async suspend(): Promise<boolean> {
    await this.#children.leave()
    this.#driver.suspend({ reason: 'asked', message: 'the run was let go of', retryAt: null })
    const result = await this.result
    return result.status === 'suspended'
  }

  async #finish(): Promise<RunResult> {
    try {
      await this.#driver.run()
      await this.#children.settled()
    } catch (error) {
      // The log of the run is broken, those of its calls are not: they can go on when it can.
      await this.#children.leave().catch(() => undefined)
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

/** The options as the chart takes them. A word that it does not know must not be taken for a wider one. */
function answerOptions({ argumentsHash, remember }: AnswerOptions): AnswerOptions {
  if (remember !== undefined && remember !== 'call' && remember !== 'tool') {
    throw new LoopchartError('usage', 'remember must be call or tool')
  }
  return { ...(argumentsHash && { argumentsHash }), ...(remember && { remember }) }
}

function suspendedRun({ state, context }: LoopSnapshot, suspension: Suspension): Omit<SuspendedRun, 'calls'> {
  return { ...loopOutput(context), ...suspension, status: 'suspended', state }
}

interface Beginning extends Pick<StartOptions, 'parent' | 'conversation' | 'service'> {
  readonly input: RunInput
  readonly started: LoopInput
}

function startFrame(stamp: FrameStamp, agent: Agent, beginning: Beginning): Frame {
  const { input, started, parent, conversation, service } = beginning
  const { limits } = agent.settings
  // A copy: what the log holds must not change when the caller's object does.
  const own: RunStartedFrame['input'] = typeof input === 'string' ? input : JSON.parse(JSON.stringify(input))
  return makeFrame(stamp, 'run_started', {
    input: own,
    agent: plain(agent.description) ?? {},
    model: agent.models.map(({ name }) => name).join(', '),
    limits: { ...limits, wall_time_ms: agent.wallTimeMs },
    settings: plain(agent.settings) ?? {},
    deadline_at: started.deadlineAt,
    continuity: agent.continuity,
    chart_version: CHART_VERSION,
    chart_hash: chartHash(loopMachine),
    parent: parent === undefined ? null : { run_id: parent.runId, call_id: parent.callId },
    ...(conversation !== undefined && { conversation }),
    ...(service !== undefined && { service }),
  })
}
