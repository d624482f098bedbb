import type { CommandAnswer, LoopCommand, RunBudget, TokenUsage } from '../../machines/loop.types.ts'
import type { Explanation } from '../chart/explain.ts'
import { LoopchartError } from '../errors.ts'
import type { ApprovalRequestedFrame, Frame, RunStartedFrame } from '../frames/generated/frame.ts'
import { makeFrame } from '../frames/make-frame.ts'
import type { RunStore } from '../journal/run-store.ts'
import type { Agent } from './agent.ts'
import type { EffectIo } from './effect.ts'
import type { Suspension } from './suspension.ts'
import type { AgentRunResult } from './tool-port.ts'
import { isUsage } from './usage.ts'

/** A run that is the work of a call, as much of it as its parent needs. */
export interface ChildRun {
  readonly id: string
  readonly state: string
  readonly result: Promise<ChildResult>
  frames(from?: number): AsyncIterable<Frame>
  can(command: LoopCommand): CommandAnswer
  explain(): Explanation
  approve(call: CallPath, options?: AnswerOptions): Promise<CommandAnswer>
  deny(call: CallPath, reason: string, options?: AnswerOptions): Promise<CommandAnswer>
  reconcile(call: CallPath, as: 'done' | 'failed' | 'rerun', output?: string): Promise<CommandAnswer>
  cancel(reason?: string): Promise<CommandAnswer>
  suspend(): Promise<boolean>
}

/** A call by its id, or one in the run of a call: the ids from the outermost call inwards. */
export type CallPath = string | readonly string[]

/** What an answer to a question may say besides yes or no. */
export interface AnswerOptions {
  /** The arguments that were shown, by hash: an answer about others is refused. */
  readonly argumentsHash?: string
  /** The answer holds for the rest of the run: for the same arguments, or for the tool. */
  readonly remember?: 'call' | 'tool'
}

type ChildResult =
  | (Suspension & { readonly status: 'suspended' })
  | {
      readonly status: 'ended'
      readonly state: string
      readonly reason: string
      readonly message: string
      readonly text: string
      readonly output: unknown
      readonly usage: TokenUsage
    }

/** The run and the call that a run is the work of. */
export interface ParentCall {
  readonly runId: string
  readonly callId: string
}

/** Begins a run, or goes on with one. */
export type StartRun = (
  agent: Agent,
  input: string | { readonly resume: string },
  options: { readonly runId?: string; readonly store?: RunStore; readonly parent: ParentCall },
) => ChildRun

/** The call that a run of its own is the work of. */
export interface ChildCall {
  readonly callId: string
  /** The same for every attempt at the call. */
  readonly key: string
  readonly left: RunBudget
  /** Aborted when the call ends without it: at its deadline, or with the run. */
  readonly signal: AbortSignal
  /** What its runs have used is added to this. */
  readonly onUsage: (usage: TokenUsage) => void
  /** There is another way: without a store, where nothing could be taken up later, it is not waited for. */
  readonly isOptional?: boolean
}

/** The runs that calls of one run are at work on. */
export class Children {
  readonly #store: RunStore | null
  readonly #start: StartRun
  // Both are made when a call begins a run: most never do.
  #live: Map<string, ChildRun> | null = null
  /** How many runs each call has begun, by its key. */
  #begun: Map<string, number> | null = null
  #isLeaving = false

  constructor(store: RunStore | null, start: StartRun) {
    this.#store = store
    this.#start = start
  }

  /** The runs at work, by the call that each is the work of. */
  get live(): ReadonlyMap<string, ChildRun> {
    return this.#running
  }

  get #running(): Map<string, ChildRun> {
    this.#live ??= new Map()
    return this.#live
  }

  /** Lets go of all of them: they can be resumed with the run that they belong to. */
  async leave(): Promise<void> {
    this.#isLeaving = true
    await Promise.all([...(this.#live?.values() ?? [])].map((child) => child.suspend()))
  }

  /** Resolves when none of them is at work any more. */
  async settled(): Promise<void> {
    await Promise.allSettled([...(this.#live?.values() ?? [])].map(({ result }) => result))
  }

  /**
   * Runs an agent as the work of a call. Rejects when it cannot be started, or must wait for long and is optional; how it
   * ends is a result.
   */
  async run(agent: Agent, input: string, call: ChildCall, io: EffectIo): Promise<AgentRunResult> {
    call.signal.throwIfAborted()
    // A tool that goes on behind its call: a run that it began now would belong to nothing.
    if (!io.isWanted()) throw new LoopchartError('usage', 'the call that would run it is over')
    if (this.#running.has(call.callId)) {
      throw new LoopchartError('usage', 'a call can run one agent at a time')
    }
    const parent = { runId: io.runId, callId: call.callId }
    const id = this.#nextId(call)
    const known = this.#knownRun(id, parent, input)
    if (known?.last.type === 'run_ended') {
      const { state, reason, text, output, usage } = known.last
      if (isUsage(usage)) call.onUsage(usage)
      return { runId: id, state, reason, message: reason, text, output }
    }
    // A run would send its first request before it looked at what is left.
    if (call.left.tokens === 0) return spent(id)
    const options = { ...(this.#store === null ? {} : { store: this.#store }), parent }
    const limited = withinBudget(agent, call.left)
    const child =
      known === null
        ? this.#start(limited, input, { ...options, runId: id })
        : this.#start(limited, { resume: id }, options)
    return this.#follow(child, known === null ? 0 : known.last.seq + 1, call, io)
  }

  /** The same for the same call whenever it is run, as long as it runs the same agents one after the other. */
  #nextId({ key }: ChildCall): string {
    this.#begun ??= new Map()
    const before = this.#begun.get(key) ?? 0
    this.#begun.set(key, before + 1)
    const id = key.replaceAll('/', '.')
    return before === 0 ? id : `${id}-${before + 1}`
  }

  async #follow(child: ChildRun, from: number, call: ChildCall, io: EffectIo): Promise<AgentRunResult> {
    const { callId, signal } = call
    this.#running.set(callId, child)
    const onAbort = (): void =>
      void (this.#isLeaving ? child.suspend() : child.cancel('the call that it belongs to was stopped'))
    signal.addEventListener('abort', onAbort, { once: true })
    if (signal.aborted) onAbort()
    io.stamp.tick()
    io.observe(makeFrame(io.stamp, 'child_started', { call_id: callId, child_run_id: child.id }))
    const watched = forwardQuestions(child, from, callId, io)
    try {
      const result = await child.result
      await watched
      if (result.status === 'suspended') {
        if (call.isOptional === true && this.#store === null && !this.#isLeaving)
          throw new LoopchartError('usage', `it would have to wait: ${result.message}`)
        this.#isLeaving = true
        io.suspend({ reason: result.reason, message: result.message, retryAt: result.retryAt })
        // The run is let go of: nobody is left to hear what the call came to.
        return await new Promise(() => undefined)
      }
      call.onUsage(result.usage)
      const { state, reason, message, text, output } = result
      return { runId: child.id, state, reason, message, text, output }
    } finally {
      signal.removeEventListener('abort', onAbort)
      this.#running.delete(callId)
    }
  }

  /** What a store has of the run; null: nothing. Throws when it is the run of something else. */
  #knownRun(id: string, parent: ParentCall, input: string): { readonly last: Frame } | null {
    if (this.#store === null) return null
    let first: Frame | null = null
    let last: Frame | null = null
    try {
      for (const frame of this.#store.read(id)) {
        first ??= frame
        last = frame
      }
    } catch (error) {
      if (error instanceof LoopchartError && error.code === 'run_unknown') return null
      throw error
    }
    if (first === null || last === null) return null
    if (isRunOf(first, parent) && first.input === input) return { last }
    throw new LoopchartError(
      'run_exists',
      `the store has a run ${id} already, and it is not that of this call`,
    )
  }
}

function isRunOf(first: Frame, { runId, callId }: ParentCall): first is RunStartedFrame {
  return first.type === 'run_started' && first.parent?.run_id === runId && first.parent.call_id === callId
}

function spent(runId: string): AgentRunResult {
  const message = 'no tokens are left for it'
  return { runId, state: 'limitExceeded', reason: 'tokens', message, text: '', output: null }
}

/**
 * Shows what a run waits for in the log of the one that it belongs to, questions from before it was resumed included:
 * calls that need a yes, and calls of which nobody knows how they ended.
 */
async function forwardQuestions(child: ChildRun, from: number, callId: string, io: EffectIo): Promise<void> {
  const doubt = (inner: readonly string[]): void => {
    io.stamp.tick()
    const figures = { call_id: callId, path: [callId, ...inner] }
    io.observe(makeFrame(io.stamp, 'warning', { cause: IN_DOUBT, figures }))
  }
  // A run that was let go of like this enters no state when it is taken up.
  if (isReconciling(child.state)) doubt(inDoubtIn(child))
  for await (const frame of child.frames()) {
    if (!io.isWanted()) continue
    if (frame.seq >= from) {
      if (frame.type === 'state_entered' && isReconciling(frame.state)) doubt(inDoubtIn(child))
      if (frame.type === 'warning' && frame.cause === IN_DOUBT) doubt(textsIn(frame.figures['path']))
    }
    if (frame.type === 'approval_requested' && isOpen(child, frame, from)) {
      const { call_id, arguments_hash, reason, each_time, shown } = frame
      io.stamp.tick()
      const path = [callId, ...frame.path]
      io.observe(
        makeFrame(io.stamp, 'approval_requested', {
          call_id,
          path,
          arguments_hash,
          reason,
          each_time,
          shown,
        }),
      )
    }
  }
}

function isReconciling(state: string): boolean {
  return state.endsWith('.reconciling')
}

function textsIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((text) => typeof text === 'string') : []
}

// One that is further in is asked again by the call that it is in.
function isOpen(
  child: ChildRun,
  { call_id: callId, path, seq }: ApprovalRequestedFrame,
  from: number,
): boolean {
  if (path.length > 1) return seq >= from
  return child.can({ type: 'call.approve', callId }).answer !== 'refused'
}

/** Said in the log of a run about a call further in that was cut off: somebody must say what became of it. */
export const IN_DOUBT = 'call_in_doubt'

/** The first call of a run that is in doubt. */
function inDoubtIn(child: ChildRun): readonly string[] {
  const prefix = 'call.reconcile '
  const open = child.explain().can.find((one) => one.startsWith(prefix))
  return open === undefined ? [] : [open.slice(prefix.length)]
}

/** The agent with what is left to its caller as its limits, where those are lower than its own. */
export function withinBudget(agent: Agent, { toolCalls, tokens, deadlineAt }: RunBudget): Agent {
  const { limits } = agent.settings
  const msLeft = deadlineAt === null ? null : Math.max(1, deadlineAt - Math.floor(agent.clock.now()))
  return {
    ...agent,
    wallTimeMs: lower(agent.wallTimeMs, msLeft),
    settings: {
      ...agent.settings,
      limits: {
        ...limits,
        toolCalls: Math.min(limits.toolCalls, toolCalls),
        tokens: lower(limits.tokens, tokens),
      },
    },
  }
}

function lower(one: number | null, other: number | null): number | null {
  if (one === null || other === null) return one ?? other
  return Math.min(one, other)
}
