import type { CommandAnswer, LoopCommand } from '../../machines/loop.types.ts'
import type { Clock } from '../clock.ts'
import type { Frame } from '../frames/generated/frame.ts'
import { FrameLog } from './frame-log.ts'
import type { Decision, EffectRun } from './journal.ts'
import type { RunJournal } from './run-store.ts'

interface Registered {
  readonly key: string
  readonly effect: EffectRun
}

/** What is under way: an effect, or a timer. */
interface Active {
  readonly key: string
  readonly controller: AbortController | null
  readonly disarm: (() => void) | null
}

const NONE: readonly never[] = []

/** The order of a run's decisions and what is under way. How frames get into the log is left to the store. */
export abstract class QueuedJournal implements RunJournal {
  readonly log: FrameLog
  readonly #clock: Clock
  // Lists, as there are one or two of each at a time: a map makes a table anew for every few that come and go, and one
  // that was emptied refers on to what it holds next.
  /** What is to be launched. */
  #registered: readonly Registered[] = NONE
  /** How to end what is under way. What is not here any more has nothing left to say. */
  readonly #active: Active[] = []
  readonly #decisions: Decision[] = []
  /** Gives whoever waits the next decision. */
  #waiting: ((decision: Decision | Promise<never>) => void) | null = null
  #failure: Error | null = null
  #isClosed = false

  constructor(clock: Clock, log = new FrameLog()) {
    this.#clock = clock
    this.log = log
  }

  abstract commit(frames: readonly Frame[]): Promise<void>

  abstract observe(frame: Frame): void

  start(key: string, effect: EffectRun): void {
    const registered = { key, effect }
    this.#registered = this.#registered.length === 0 ? [registered] : [...this.#registered, registered]
  }

  timer(key: string, atMs: number): void {
    // Before whatever else is decided from now on.
    if (atMs <= this.#clock.now()) return this.#decide({ kind: 'settled', key, value: null })
    const disarm = this.#clock.setTimer(atMs, () => this.#settle({ kind: 'settled', key, value: null }))
    this.#active.push({ key, controller: null, disarm })
  }

  doubt(key: string, isUntouched: boolean): void {
    this.#decide({ kind: 'inDoubt', key, isUntouched })
  }

  abort(key: string): void {
    this.#registered = this.#registered.filter((registered) => registered.key !== key)
    const active = this.#takeActive(key)
    active?.controller?.abort()
    active?.disarm?.()
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
    this.#registered = NONE
    for (let at = 0; at < registered.length; at += 1) {
      const one = registered[at]
      if (one !== undefined) this.#launch(one)
    }
    // Without a way to reject it: that would be kept for as long as the run waits, and few ever fail.
    return new Promise((resolve) => {
      this.#waiting = resolve
    })
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
    this.#registered = NONE
    const waiting = this.#waiting
    this.#waiting = null
    if (waiting !== null) waiting(broken(this.#failure))
  }

  /** To a command that comes too late. */
  #refusal(): CommandAnswer {
    const hasEnded = this.log.last?.type === 'run_ended'
    return { answer: 'refused', reason: hasEnded ? 'the run has ended' : 'the run was let go of' }
  }

  #launch({ key, effect }: Registered): void {
    const controller = new AbortController()
    this.#active.push({ key, controller, disarm: null })
    // Whoever launches it goes on first.
    void Promise.resolve().then(() => this.#see(key, effect, controller.signal))
  }

  // Not an async function: there are as many of them as effects that are waited for, and each would be kept with the effect.
  #see(key: string, effect: EffectRun, signal: AbortSignal): void {
    if (signal.aborted) return
    const broke = (error: unknown): void => this.#settle({ kind: 'bug', key, error })
    try {
      effect(signal).then((value) => this.#settle({ kind: 'settled', key, value }), broke)
    } catch (error) {
      // An effect that throws at once is a bug like any other.
      broke(error)
    }
  }

  #settle(decision: Extract<Decision, { key: string }>): void {
    if (this.#takeActive(decision.key) !== null) this.#decide(decision)
  }

  /** What is under way by this key, which it is no more; null: it was not. */
  #takeActive(key: string): Active | null {
    for (let at = 0; at < this.#active.length; at += 1) {
      const active = this.#active[at]
      if (active?.key !== key) continue
      this.#active.splice(at, 1)
      return active
    }
    return null
  }

  #decide(decision: Decision): void {
    const waiting = this.#waiting
    this.#waiting = null
    if (waiting === null) this.#decisions.push(decision)
    else waiting(decision)
  }
}

function broken(error: Error): Promise<never> {
  return Promise.reject(error)
}
