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
  readonly #registered = new Map<string, EffectRun>()
  /** How to end what is under way, by key. A key that is not here any more has nothing left to say. */
  readonly #active = new Map<string, () => void>()
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
    this.#registered.set(key, effect)
  }

  timer(key: string, atMs: number): void {
    // Before whatever else is decided from now on.
    if (atMs <= this.#clock.now()) return this.#decide({ kind: 'settled', key, value: null })
    const disarm = this.#clock.setTimer(atMs, () => this.#settle(key, { kind: 'settled', key, value: null }))
    this.#active.set(key, disarm)
  }

  doubt(key: string, isUntouched: boolean): void {
    this.#decide({ kind: 'inDoubt', key, isUntouched })
  }

  abort(key: string): void {
    this.#registered.delete(key)
    const end = this.#active.get(key)
    this.#active.delete(key)
    end?.()
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
    for (const [key, effect] of this.#registered) this.#launch(key, effect)
    this.#registered.clear()
    this.#waiting = Promise.withResolvers()
    return this.#waiting.promise
  }

  send(command: LoopCommand): Promise<CommandAnswer> {
    if (this.#isClosed) return Promise.resolve(this.#refusal())
    return new Promise((reply) => this.#decide({ kind: 'command', command, reply }))
  }

  close(): Promise<void> {
    this.#isClosed = true
    for (const key of this.#active.keys()) this.abort(key)
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
    this.#registered.clear()
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
    this.#active.set(key, () => controller.abort())
    // Within a promise from its first line on: an effect that throws at once is a bug like any other.
    void Promise.resolve(controller.signal)
      .then((signal) => (signal.aborted ? null : effect(signal)))
      .then(
        (value) => this.#settle(key, { kind: 'settled', key, value }),
        (error: unknown) => this.#settle(key, { kind: 'bug', key, error }),
      )
  }

  #settle(key: string, decision: Decision): void {
    if (this.#active.delete(key)) this.#decide(decision)
  }

  #decide(decision: Decision): void {
    const waiting = this.#waiting
    this.#waiting = null
    if (waiting === null) this.#decisions.push(decision)
    else waiting.resolve(decision)
  }
}
