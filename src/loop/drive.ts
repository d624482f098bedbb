import type { LoopContext, LoopInput, RunToolInput } from '../../machines/loop.types.ts'
import { can } from '../chart/can.ts'
import type { LoopPathEvent } from '../chart/loop-events.ts'
import { loopFold } from '../chart/loop-fold.ts'
import type { FoldedStep, StartedEffect } from '../chart/pure-fold.ts'
import type { LoopSnapshot } from '../chart/loop-snapshot.ts'
import type { FrameStamp } from '../frames/frame-stamp.ts'
import type { Frame } from '../frames/generated/frame.ts'
import { makeFrame } from '../frames/make-frame.ts'
import { requestSentFrame, stateEnteredFrame, toolStartedFrame } from '../frames/turn-frames.ts'
import type { Decision, EffectRun, Journal } from '../journal/journal.ts'
import type { Agent } from './agent.ts'
import type { Children } from './children.ts'
import { compact } from './compact.ts'
import { plain } from './decisions.ts'
import { drain } from './drain.ts'
import { DrivenIo, UnderWay } from './driven-io.ts'
import type { EffectIo } from './effect.ts'
import { effectKey, summariseCalls, type CallSummary, type RestoredRun } from './restore-run.ts'
import { isLong } from './retry.ts'
import { announceRequest, respond } from './respond.ts'
import { announceCall, runTool, untouchedFrame, type RunToolValue } from './run-tool.ts'
import { decisionFrame, eventOf, type SettledEffect } from './settled-effect.ts'
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
  // Made when they are needed: most runs stop no call and have nothing to warn of, and many are under way at once.
  /** Calls that were told to stop, by slot. */
  #stoppedCalls: Map<number, Promise<RunToolValue>> | null = null
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

  get hasEnded(): boolean {
    return this.#snapshot.status !== 'active'
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
      const decision = await journal.next()
      this.#options.stamp.tick()
      if (decision.kind === 'letGo') this.#isLeft = true
      else if (decision.kind === 'command') await this.#command(decision)
      else {
        const taken = this.#settle(decision)
        if (taken !== null) await this.#commit(taken)
      }
      // Who answers at once to what it has just read is heard before anything starts.
      await Promise.resolve()
    }
    if (this.suspension !== null) {
      await this.#options.children?.leave()
      this.#observeUntouched()
    }
    await journal.close()
  }

  #begin(): Promise<void> {
    const opening = this.#opening
    this.#opening = null
    if (opening === null) throw new Error('a run begins once')
    if ('restored' in opening) return this.#goOn(opening.restored)
    return this.#commit(this.#take(opening.started, 'run_started', opening.step))
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
      const at = started.effect === 'timer' ? this.#timeOf(id, started.input.at) : null
      if (at !== null) journal.timer(key, at)
    }
    for (const [id, { key, started }] of pending) {
      if (started.effect !== 'timer') journal.doubt(key, untouched.has(id))
    }
  }

  /** When a timer rings; null for one that is not set: without a time, or so late that nobody waits for it. */
  #timeOf(id: string, at: number | null): number | null {
    if (id !== 'backoff' || !isLong(this.#options.agent, at)) return at
    const message = this.#snapshot.context.error?.message ?? ''
    this.#suspension ??= { reason: 'retry_later', message, retryAt: at }
    this.#isLeft = true
    return null
  }

  /** What an effect came to; null: the chart let go of it before it settled. */
  #settle(decision: SettledEffect): Taken | null {
    const { stamp } = this.#options
    const settled = this.#forget('key', decision.key)
    if (settled === null) return null
    const { id } = settled
    const event = eventOf(id, decision)
    const step = this.#fold.next(this.#snapshot, event)
    return this.#take(decisionFrame(stamp, this.#snapshot.context, id, decision), event.type, step)
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
      await this.#commit(this.#take(received, command.type, step))
    } catch (error) {
      reply({ answer: 'refused', reason: 'the log cannot be written' })
      throw error
    }
    reply(answer)
  }

  /** One step: the frames of the decision, of what followed, of what is about to start once they are committed. */
  #take(decided: Frame, by: string, step: FoldedStep): Taken {
    const { stamp, agent } = this.#options
    const { calls: before } = this.#snapshot.context
    const { snapshot, entered, told, stopped, started } = step
    this.#snapshot = snapshot
    const { context } = snapshot
    const frames: Frame[] = [decided]
    for (let at = 0; at < entered.length; at += 1) {
      const { state, turn } = entered[at] ?? NOWHERE
      frames.push(stateEnteredFrame(stamp, state, by, turn))
    }
    for (let at = 0; at < told.length; at += 1) {
      const one = told[at]
      if (one !== undefined) frames.push(tellFrame(stamp, agent, one, context))
    }
    summariseCalls(frames, before, context.calls, this.calls)
    const ended = stopped.map((id) => this.#stop(id))
    const launches = started.map((effect) => this.#prepare(effect, context, frames))
    if (this.hasEnded) frames.push(endFrame(stamp, snapshot))
    return { frames, ended, launches }
  }

  async #commit(taken: Taken): Promise<void> {
    await this.#options.journal.commit(taken.frames)
    this.#launch(taken)
  }

  #launch({ ended, launches }: Taken): void {
    const { journal } = this.#options
    for (let at = 0; at < ended.length; at += 1) {
      const key = ended[at] ?? null
      if (key !== null) journal.abort(key)
    }
    for (let at = 0; at < launches.length; at += 1) {
      const launch = launches[at] ?? null
      if (launch === null) continue
      if ('at' in launch) journal.timer(launch.key, launch.at)
      else journal.start(launch.key, launch.effect)
    }
  }

  /** Nothing is launched any more: whoever resumes the run must know which calls have not begun. */
  #observeUntouched(): void {
    const { stamp, journal } = this.#options
    for (const { callId, call } of this.#underWay) {
      if (callId !== null && call === null) journal.observe(untouchedFrame(stamp, callId))
    }
  }

  /** What is not under way any more; null: it was not. */
  #forget(by: 'id' | 'key', name: string): UnderWay | null {
    for (let at = 0; at < this.#underWay.length; at += 1) {
      const over = this.#underWay[at]
      if (over?.[by] !== name) continue
      this.#underWay.splice(at, 1)
      over.isOver = true
      return over
    }
    return null
  }

  /** The key of what is to stop; null: it has ended by itself. */
  #stop(id: string): string | null {
    const over = this.#forget('id', id)
    if (over === null) return null
    if (over.call !== null) {
      this.#stoppedCalls ??= new Map()
      this.#stoppedCalls.set(over.call.slot, over.call.running)
    }
    return over.key
  }

  /** How an effect is launched; null: it is not. */
  #prepare(started: StartedEffect, context: LoopContext, frames: Frame[]): Launch | null {
    const { runId, stamp, agent, children } = this.#options
    const { id } = started
    const key = effectKey(runId, started, context)
    this.#forget('id', id)
    const underWay = new UnderWay(id, key)
    this.#underWay.push(underWay)
    switch (started.effect) {
      case 'timer': {
        const at = this.#timeOf(id, started.input.at)
        return at === null ? null : { key, at }
      }
      case 'respond': {
        const { input } = started
        const announced = announceRequest(agent, input)
        if (announced.ok) {
          if (announced.warnings.length > 0) frames.push(...this.#warnings(announced.warnings))
          frames.push(requestSentFrame(stamp, announced.sent))
        }
        return { key, effect: (signal) => respond(agent, input, announced, this.#io(underWay, signal)) }
      }
      case 'runTool':
        underWay.callId = started.input.call.callId
        frames.push(toolStartedFrame(stamp, announceCall(started.input)))
        return { key, effect: (signal) => this.#runTool(underWay, started.input, signal) }
      case 'compact':
        return {
          key,
          effect: (signal) => compact(agent, started.input, this.#io(underWay, signal), children),
        }
      case 'drain':
        return { key, effect: () => drain(agent.clock, this.#stoppedCalls ?? NO_CALLS, started.input.slots) }
    }
  }

  #runTool(underWay: UnderWay, input: RunToolInput, signal: AbortSignal): Promise<RunToolValue> {
    const { agent, children } = this.#options
    const running = runTool(agent, input, this.#io(underWay, signal), children)
    underWay.call = { slot: input.call.slot, running }
    return running
  }

  #io(underWay: UnderWay, signal: AbortSignal): EffectIo {
    return new DrivenIo(this, this.#options, underWay, signal)
  }

  /** Each warning once: a request that carries the whole conversation has the same ones every time. */
  #warnings(causes: readonly string[]): readonly Frame[] {
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
}

/** What a step comes to: frames, then keys of what is to end, then what is to start. */
interface Taken {
  readonly frames: readonly Frame[]
  readonly ended: readonly (string | null)[]
  readonly launches: readonly (Launch | null)[]
}

type Launch = { readonly key: string } & ({ readonly effect: EffectRun } | { readonly at: number })

const NOWHERE = { state: '', turn: 0 }
const NO_CALLS: ReadonlyMap<number, Promise<RunToolValue>> = new Map()
