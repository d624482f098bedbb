import type { LoopContext, LoopInput } from '../../machines/loop.types.ts'
import { can } from '../chart/can.ts'
import { inDoubt, type LoopPathEvent } from '../chart/loop-events.ts'
import { loopFold } from '../chart/loop-fold.ts'
import type { FoldedStep, StartedEffect } from '../chart/pure-fold.ts'
import type { LoopSnapshot } from '../chart/loop-snapshot.ts'
import type { FrameStamp } from '../frames/frame-stamp.ts'
import type { Frame } from '../frames/generated/frame.ts'
import { makeFrame } from '../frames/make-frame.ts'
import {
  requestSentFrame,
  responseSettledFrame,
  stateEnteredFrame,
  toolOutcomeFrame,
  toolStartedFrame,
} from '../frames/turn-frames.ts'
import type { Decision, Journal } from '../journal/journal.ts'
import type { JsonObject } from '../protocol/json.ts'
import type { Agent } from './agent.ts'
import type { Children } from './children.ts'
import { compact } from './compact.ts'
import { plain, respondDecision } from './decisions.ts'
import { drain } from './drain.ts'
import { DrivenIo, UnderWay } from './driven-io.ts'
import type { EffectIo } from './effect.ts'
import { effectKey, summariseCalls, type CallSummary, type RestoredRun } from './restore-run.ts'
import { isLong } from './retry.ts'
import { announceRequest, respond, type RespondValue } from './respond.ts'
import { announceCall, runTool, untouchedFrame, type RunToolValue } from './run-tool.ts'
import { endFrame, tellFrame } from './step-frames.ts'
import type { Suspension } from './suspension.ts'

export type DriveOptions = {
  readonly runId: string
  readonly agent: Agent
  readonly journal: Journal
  readonly stamp: FrameStamp
  /** Runs that calls are at work on; without it, no call can have one. */
  readonly children?: Children
} & (NewRun | OldRun)

interface NewRun {
  readonly input: LoopInput
  /** What the log says first. */
  readonly started: Frame
  readonly restored?: undefined
}

interface OldRun {
  /** Where its log leaves it. */
  readonly restored: RestoredRun
}

/**
 * Drives one run: takes a decision from the journal, folds it through the chart, commits what came of it, launches
 * what the chart wants. Nothing is decided here.
 */
export class Driver {
  /** Every call that has its outcome, in the order in which they got it. */
  readonly calls: CallSummary[]
  readonly #options: DriveOptions
  /** What is under way: few at once, and looked for by both. */
  #underWay: UnderWay[] = []
  // Made when they are needed: most runs have nothing to warn of, and many are under way at once.
  #calls: Map<number, Promise<RunToolValue>> | null = null
  #warned: Set<string> | null = null
  readonly #fold = loopFold()
  /** How it begins; null: it has begun. */
  #opening: { readonly started: Frame; readonly step: FoldedStep } | { readonly restored: RestoredRun } | null
  #snapshot: LoopSnapshot
  #suspension: Suspension | null = null
  #isLeft = false

  constructor(options: DriveOptions) {
    this.#options = options
    const { restored } = options
    if (restored === undefined) {
      const step = this.#fold.first(options.input)
      this.#opening = { started: options.started, step }
      this.#snapshot = step.snapshot
    } else {
      this.#opening = { restored }
      this.#snapshot = restored.snapshot
    }
    this.calls = [...(restored?.calls ?? [])]
  }

  /** Why nobody drives the run any more although it has not ended; null: somebody does, or it has. */
  get suspension(): Suspension | null {
    return this.#snapshot.status === 'active' ? this.#suspension : null
  }

  get snapshot(): LoopSnapshot {
    return this.#snapshot
  }

  /** Lets go of the run as soon as what is decided already is committed. Nothing happens once it has ended. */
  suspend(suspension: Suspension): void {
    if (this.#snapshot.status !== 'active') return
    this.#suspension ??= suspension
    this.#options.journal.letGo()
  }

  /** Resolves when the chart is in a final state and the log has its last frame, or when the run is suspended. */
  async run(): Promise<void> {
    const { journal } = this.#options
    await this.#begin()
    while (this.#snapshot.status === 'active' && !this.#isLeft) {
      await this.#decide(await journal.next())
    }
    if (this.suspension !== null) await this.#options.children?.leave()
    await journal.close()
  }

  #begin(): Promise<void> {
    const opening = this.#opening
    this.#opening = null
    if (opening === null) throw new Error('a run begins once')
    if ('restored' in opening) return this.#goOn(opening.restored)
    return this.#take(opening.started, 'run_started', opening.step)
  }

  /** Takes a run up where its log leaves it: timers are set again, everything else that was at work is in doubt. */
  async #goOn({ pending, untouched, epoch, agent: known }: RestoredRun): Promise<void> {
    const { stamp, journal, agent } = this.#options
    const isSameAgent = known['fingerprint'] === agent.description.fingerprint
    const superseded = pending.get('respond')?.started
    const frame = makeFrame(stamp, 'run_resumed', {
      epoch: epoch + 1,
      superseded:
        superseded?.effect === 'respond'
          ? { turn: superseded.input.turn, attempt: superseded.input.attempt }
          : null,
      agent: isSameAgent ? null : plain(agent.description),
    })
    await journal.commit([frame])
    // Timers first: where time is up, nothing is asked for again.
    for (const [id, { key, started }] of pending) {
      this.#underWay.push(new UnderWay(id, key))
      if (started.effect === 'timer') this.#arm(id, key, started.input.at)?.()
    }
    for (const [id, { key, started }] of pending) {
      if (started.effect !== 'timer') journal.doubt(key, untouched.has(id))
    }
  }

  /** How a timer is set; null for one that is not: without a time, or so late that nobody waits for it. */
  #arm(id: string, key: string, at: number | null): (() => void) | null {
    const { agent, journal } = this.#options
    if (id === 'backoff' && isLong(agent, at)) {
      const message = this.#snapshot.context.error?.message ?? ''
      this.#suspension ??= { reason: 'retry_later', message, retryAt: at }
      this.#isLeft = true
    } else if (at !== null) return () => journal.timer(key, at)
    return null
  }

  async #decide(decision: Decision): Promise<void> {
    this.#options.stamp.tick()
    if (decision.kind === 'letGo') return void (this.#isLeft = true)
    if (decision.kind === 'command') return this.#command(decision)
    const settled = this.#underWay.find(({ key }) => key === decision.key)
    // The chart let go of it before it settled.
    if (settled === undefined) return
    const { id } = settled
    this.#forget(id)
    const event = eventOf(id, decision)
    const step = this.#fold.next(this.#snapshot, event)
    await this.#take(this.#decisionFrame(id, decision), event.type, step)
  }

  async #command({ command, reply }: Extract<Decision, { kind: 'command' }>): Promise<void> {
    const { stamp } = this.#options
    const answer = can(this.#snapshot, command)
    const received = makeFrame(stamp, 'command_received', { command: { ...command }, answer: { ...answer } })
    const step =
      answer.answer === 'refused'
        ? { snapshot: this.#snapshot, entered: [], started: [], stopped: [], told: [] }
        : this.#fold.next(this.#snapshot, command)
    try {
      await this.#take(received, command.type, step)
    } catch (error) {
      reply({ answer: 'refused', reason: 'the log cannot be written' })
      throw error
    }
    reply(answer)
  }

  /** One step: the frames of the decision, of what followed, of what is about to start; then it starts. */
  async #take(decided: Frame, by: string, step: FoldedStep): Promise<void> {
    const { stamp, journal, agent } = this.#options
    const { calls: before } = this.#snapshot.context
    const { snapshot, entered, told, stopped, started } = step
    this.#snapshot = snapshot
    const { context } = snapshot
    const frames: Frame[] = [decided]
    for (let at = 0; at < entered.length; at += 1) {
      const { state, turn } = entered[at] ?? NOWHERE
      frames.push(stateEnteredFrame(stamp, state, by, turn))
    }
    for (const one of told) frames.push(tellFrame(stamp, agent, one, context))
    summariseCalls(frames, before, context.calls, this.calls)
    const ended: string[] = []
    for (const id of stopped) {
      const key = this.#forget(id)
      if (key !== null) ended.push(key)
    }
    const launches: (() => void)[] = []
    for (const effect of started) this.#prepare(effect, context, frames, launches)
    if (this.#suspension !== null) frames.push(...this.#untouched(started))
    if (snapshot.status !== 'active') frames.push(endFrame(stamp, snapshot))
    await journal.commit(frames)
    for (const key of ended) journal.abort(key)
    for (const launch of launches) launch()
  }

  /** Nothing is launched any more: whoever resumes the run must know which calls have not begun. */
  #untouched(started: readonly StartedEffect[]): readonly Frame[] {
    return started.flatMap((effect) =>
      effect.effect === 'runTool' ? [untouchedFrame(this.#options.stamp, effect.input.call.callId)] : [],
    )
  }

  /** The key of what is not under way any more; null: it was not. */
  #forget(id: string): string | null {
    const at = this.#underWay.findIndex((one) => one.id === id)
    const [over] = at === -1 ? [] : this.#underWay.splice(at, 1)
    if (over === undefined) return null
    over.isOver = true
    return over.key
  }

  #prepare(started: StartedEffect, context: LoopContext, frames: Frame[], launches: (() => void)[]): void {
    const { runId, journal, stamp, agent } = this.#options
    const { id } = started
    const key = effectKey(runId, started, context)
    this.#forget(id)
    const underWay = new UnderWay(id, key)
    this.#underWay.push(underWay)
    const launch = (effect: (io: EffectIo) => Promise<unknown>): void => {
      launches.push(() =>
        journal.start(key, (signal) => effect(new DrivenIo(this, this.#options, underWay, signal))),
      )
    }
    switch (started.effect) {
      case 'timer': {
        const arm = this.#arm(id, key, started.input.at)
        if (arm !== null) launches.push(arm)
        break
      }
      case 'respond': {
        const announced = announceRequest(agent, started.input)
        if (announced.ok) {
          frames.push(...this.#warnings(announced.warnings), requestSentFrame(stamp, announced.sent))
        }
        launch((io) => respond(agent, started.input, announced, io))
        break
      }
      case 'runTool':
        frames.push(toolStartedFrame(stamp, announceCall(started.input)))
        launch((io) => {
          const running = runTool(agent, started.input, io, this.#options.children)
          this.#calls ??= new Map()
          this.#calls.set(started.input.call.slot, running)
          return running
        })
        break
      case 'compact':
        launch((io) => compact(agent, started.input, io, this.#options.children))
        break
      case 'drain':
        launch(() => drain(agent.clock, this.#calls ?? NO_CALLS, started.input.slots))
    }
  }

  /** Each warning once: a request that carries the whole conversation has the same ones every time. */
  #warnings(causes: readonly string[]): readonly Frame[] {
    if (causes.length === 0) return NO_FRAMES
    const warned = (this.#warned ??= new Set())
    const fresh = causes.filter((cause) => !warned.has(cause))
    for (const cause of fresh) warned.add(cause)
    return fresh.map((cause) => makeFrame(this.#options.stamp, 'warning', { cause, figures: {} }))
  }

  /** The first event of a response is in. Folded live and not a decision: it may change the leaf inside `responding` alone. */
  observeOpened(): void {
    const { stamp, journal } = this.#options
    const event: LoopPathEvent = { type: 'stream.opened' }
    const { snapshot, entered, started, stopped, told } = this.#fold.next(this.#snapshot, event)
    const hasDecided = started.length + stopped.length + told.length > 0
    if (hasDecided || snapshot.context !== this.#snapshot.context) {
      throw new Error('an observation may not decide anything')
    }
    this.#snapshot = snapshot
    for (const { state, turn } of entered) {
      journal.observe(stateEnteredFrame(stamp, state, event.type, turn))
    }
  }

  /** The one frame that says what was decided: folding these again gives the run again. */
  #decisionFrame(id: string, decision: SettledEffect): Frame {
    const { stamp } = this.#options
    const { turn, attempt } = this.#snapshot.context
    const settled = { id, value: null, in_doubt: false, untouched: false, error: null }
    if (decision.kind === 'inDoubt') {
      return makeFrame(stamp, 'effect_settled', {
        ...settled,
        in_doubt: true,
        untouched: decision.isUntouched,
      })
    }
    if (decision.kind === 'bug') {
      // The cause is for the log; the chart only knows that there was one.
      const error = { code: 'internal_error', message: causeOf(decision.error).slice(0, 1000) }
      return makeFrame(stamp, 'effect_settled', { ...settled, error })
    }
    const { value } = decision
    if (isRespondValue(id, value)) {
      const { settled: told } = value
      return responseSettledFrame(stamp, turn, attempt, told, respondDecision(value, told.items))
    }
    if (isRunToolValue(id, value)) {
      this.#calls?.delete(Number(id.slice('tool.'.length)))
      return toolOutcomeFrame(stamp, value.ended)
    }
    return makeFrame(stamp, 'effect_settled', { ...settled, value: isStored(value) ? value : null })
  }
}

const NOWHERE = { state: '', turn: 0 }
const NO_FRAMES: readonly Frame[] = []
const NO_CALLS: ReadonlyMap<number, Promise<RunToolValue>> = new Map()

function causeOf(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : typeof error
}

function isStored(value: unknown): value is JsonObject | readonly JsonObject[] {
  return typeof value === 'object' && value !== null
}

// A journal gives back what an effect of this file settled with: its shape is that effect's.
function isRespondValue(id: string, value: unknown): value is RespondValue {
  return id === 'respond' && value !== null
}

function isRunToolValue(id: string, value: unknown): value is RunToolValue {
  return id.startsWith('tool.') && value !== null
}

type SettledEffect = Exclude<Decision, { kind: 'command' | 'letGo' }>

function eventOf(id: string, decision: SettledEffect): LoopPathEvent {
  switch (decision.kind) {
    case 'settled': {
      const event: unknown = { type: `xstate.done.actor.${id}`, output: decision.value, actorId: id }
      if (!isPathEvent(event)) throw new TypeError('an effect settled without a name')
      return event
    }
    case 'inDoubt':
      return inDoubt(id, decision.isUntouched)
    case 'bug':
      return { type: `xstate.error.actor.${id}`, error: decision.error, actorId: id }
  }
}

function isPathEvent(event: unknown): event is LoopPathEvent {
  return typeof event === 'object' && event !== null && 'type' in event
}
