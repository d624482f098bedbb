import type { CommandAnswer, LoopCommand } from '../../machines/loop.types.ts'
import type { Clock } from '../clock.ts'
import type { Frame } from '../frames/generated/frame.ts'
import { FrameLog } from './frame-log.ts'
import type { Decision, EffectRun } from './journal.ts'
import type { RunJournal } from './run-store.ts'

/** The order of a run's decisions and what is under way. How frames get into the log is left to the store. */
export abstract class QueuedJournal implements RunJournal {
  readonly log: FrameLog
  readonly #clock: Clock
  // Lists, as there are one or two of each at a time: a map makes a table anew for every few that come and go, and one
  // that was emptied refers on to what it holds next.
  /** What is to be launched. */
  #registered: { readonly key: string; readonly effect: EffectRun }[] = []
  /** How to end what is under way. What is not here any more has nothing left to say. */
  readonly #active: { readonly key: string; readonly end: () => void }[] = []
  readonly #decisions: Decision[] = []
  #waiting: PromiseWithResolvers<Decision> | null = null
  #failure: Error | null = null
  #isClosed = false

  constructor(clock: Clock, log = new FrameLog()) {
    this.#clock = clock
    this.log = log
  }

  abstract commit(frames: readonly Frame[]): Promise<void>

  abstract observe(frame: Frame): void

  start(key: string, effect: EffectRun): void {
    this.#registered.push({ key, effect })
  }

  timer(key: string, atMs: number): void {
    // Before whatever else is decided from now on.
    if (atMs <= this.#clock.now()) return this.#decide({ kind: 'settled', key, value: null })
    const disarm = this.#clock.setTimer(atMs, () => this.#settle(key, { kind: 'settled', key, value: null }))
    this.#active.push({ key, end: disarm })
  }

  doubt(key: string, isUntouched: boolean): void {
    this.#decide({ kind: 'inDoubt', key, isUntouched })
  }

  abort(key: string): void {
    this.#registered = this.#registered.filter((registered) => registered.key !== key)
    this.#takeActive(key)?.()
  }

  letGo(): void {
    this.#decide({ kind: 'letGo' })
  }

  next(): Promise<Decision> {
    if (this.#failure !== null) return Promise.reject(this.#failure)
    // What was decided already comes first: a cancel that is waiting must not see one more tool start.
    const decision = this.#decisions.shift()
    if (decision !== undefined) return Promise.resolve(decision)
    if (this.#isClosed) return new Promise(() => undefined)
    const registered = this.#registered
    this.#registered = []
    for (const { key, effect } of registered) this.#launch(key, effect)
    this.#waiting = Promise.withResolvers()
    return this.#waiting.promise
  }

  send(command: LoopCommand): Promise<CommandAnswer> {
    if (this.#isClosed) return Promise.resolve(this.#refusal())
    return new Promise((reply) => this.#decide({ kind: 'command', command, reply }))
  }

  close(): Promise<void> {
    this.#isClosed = true
    for (const key of this.#active.map((active) => active.key)) this.abort(key)
    this.log.end()
    for (const decision of this.#decisions.splice(0)) {
      if (decision.kind === 'command') decision.reply(this.#refusal())
    }
    return Promise.resolve()
  }

  protected get isClosed(): boolean {
    return this.#isClosed
  }

  /** Why nothing further is decided; null while the log can be written. */
  protected get failure(): Error | null {
    return this.#failure
  }

  /** The log cannot be written any more: nothing is decided and nothing is launched from here on. */
  protected fail(error: Error): void {
    this.#failure ??= error
    this.#registered = []
    this.#waiting?.reject(this.#failure)
    this.#waiting = null
  }

  /** To a command that comes too late. */
  #refusal(): CommandAnswer {
    const hasEnded = this.log.last?.type === 'run_ended'
    return { answer: 'refused', reason: hasEnded ? 'the run has ended' : 'the run was let go of' }
  }

  #launch(key: string, effect: EffectRun): void {
    const controller = new AbortController()
    this.#active.push({ key, end: () => controller.abort() })
    void this.#see(key, effect, controller.signal)
  }

  async #see(key: string, effect: EffectRun, signal: AbortSignal): Promise<void> {
    // Whoever launches it goes on first.
    await Promise.resolve()
    let decision: Decision
    try {
      decision = { kind: 'settled', key, value: signal.aborted ? null : await effect(signal) }
    } catch (error) {
      // An effect that throws at once is a bug like any other.
      decision = { kind: 'bug', key, error }
    }
    this.#settle(key, decision)
  }

  #settle(key: string, decision: Decision): void {
    if (this.#takeActive(key) !== null) this.#decide(decision)
  }

  /** How to end what is under way by this key, which it is no more; null: it was not. */
  #takeActive(key: string): (() => void) | null {
    const at = this.#active.findIndex((active) => active.key === key)
    return at === -1 ? null : (this.#active.splice(at, 1)[0]?.end ?? null)
  }

  #decide(decision: Decision): void {
    const waiting = this.#waiting
    this.#waiting = null
    if (waiting === null) this.#decisions.push(decision)
    else waiting.resolve(decision)
  }
}
