import type { LoopPathEvent } from '../chart/loop-events.ts'
import type { Frame } from '../frames/generated/frame.ts'
import type { Decision, EffectRun, Journal } from '../journal/journal.ts'
import { allElse } from './all-else.ts'
import type { Answer, PathModel } from './path-model.ts'
import type { SimulatedClock } from './simulated-clock.ts'

export interface PathJournalOptions {
  readonly events: readonly LoopPathEvent[]
  readonly model: PathModel
  readonly clock: SimulatedClock
  /** Called before each event happens; false: the run is not where the path thinks it is. */
  readonly onStep: (at: number) => boolean
  /** What really happens, in the words of the chart. */
  readonly onEvent: (event: LoopPathEvent) => void
  /** Resolves when an effect has been given enough time. */
  readonly patience: () => Promise<'late'>
  readonly isStopping: () => boolean
}

interface Live {
  readonly settled: Promise<Decision>
  readonly abort: () => void
}

// What stopping waits for what was aborted.
const DRAIN_MS = 2000

/**
 * A journal that decides as a path says. Effects are real: tools run, requests are built, sent and read; the path says
 * in which order they settle, what people ask, and where the process dies. When the path is at its end, or the run
 * leaves it, the run is cancelled.
 */
export class PathJournal implements Journal {
  readonly frames: Frame[] = []
  /** Why the run left the path, or what did not end; null when all went as it should. */
  left: string | null = null
  late: string | null = null
  readonly #options: PathJournalOptions
  readonly #registered = new Map<string, EffectRun>()
  readonly #live = new Map<string, Live>()
  readonly #timers = new Set<string>()
  #at = 0
  #isFinishing = false

  constructor(options: PathJournalOptions) {
    this.#options = options
  }

  start(key: string, effect: EffectRun): void {
    this.#registered.set(key, effect)
  }

  timer(key: string): void {
    this.#timers.add(key)
  }

  doubt(): void {
    throw new Error('a path is walked from its start')
  }

  abort(key: string): void {
    this.#registered.delete(key)
    this.#timers.delete(key)
    this.#drop(key)
  }

  letGo(): void {
    // A path is followed to its end.
  }

  async next(): Promise<Decision> {
    for (const [key, effect] of this.#registered) this.#launch(key, effect)
    this.#registered.clear()
    while (this.left === null && this.late === null && this.#at < this.#options.events.length) {
      const at = this.#at
      this.#at += 1
      if (!this.#options.onStep(at)) this.left = `at step ${at}`
      else {
        const decision = await this.#decide(at)
        if (decision !== null) return decision
      }
    }
    return this.#finish()
  }

  commit(frames: readonly Frame[]): Promise<void> {
    this.frames.push(...frames)
    return Promise.resolve()
  }

  observe(frame: Frame): void {
    this.frames.push(frame)
  }

  send(): Promise<never> {
    return Promise.reject(new Error('commands come from the path'))
  }

  close(): Promise<void> {
    for (const key of this.#live.keys()) this.#drop(key)
    return Promise.resolve()
  }

  #launch(key: string, effect: EffectRun): void {
    const controller = new AbortController()
    const settled = Promise.resolve(controller.signal)
      .then((signal) => (signal.aborted ? null : effect(signal)))
      .then(
        (value): Decision => ({ kind: 'settled', key, value }),
        (error: unknown): Decision => ({ kind: 'bug', key, error }),
      )
    this.#live.set(key, { settled, abort: () => controller.abort() })
  }

  #drop(key: string): void {
    const live = this.#live.get(key)
    this.#live.delete(key)
    live?.abort()
  }

  async #decide(at: number): Promise<Decision | null> {
    const event = this.#options.events[at]
    if (event === undefined) return null
    const [, how, id] = /^xstate\.(done|error)\.actor\.(.+)$/u.exec(event.type) ?? []
    if (id !== undefined && how === 'error') return this.#cutOff(event, id, 'bug')
    if (id !== undefined) return this.#settle(event, id)
    switch (event.type) {
      case 'effect.inDoubt':
        return this.#cutOff(event, event.id, event.isUntouched === true ? 'untouched' : 'inDoubt')
      case 'stream.opened':
        this.#options.onEvent(event)
        await this.#options.model.open(this.#answerAfter(at))
        return null
      case 'run.cancel':
      case 'run.steer':
      case 'call.approve':
      case 'call.deny':
      case 'call.reconcile':
        this.#options.onEvent(event)
        return { kind: 'command', command: event, reply: () => undefined }
      default:
        return null
    }
  }

  /** An effect is rejected, or lost with its process. */
  #cutOff(event: LoopPathEvent, id: string, how: 'bug' | 'inDoubt' | 'untouched'): Decision | null {
    const key = this.#keyOf(id)
    this.#options.onEvent(event)
    // A stranger: the chart has nothing of that name at work.
    if (key === null) return null
    this.#timers.delete(key)
    this.#drop(key)
    if (how === 'bug') return { kind: how, key, error: new Error(`${id} was rejected`) }
    return { kind: 'inDoubt', key, isUntouched: how === 'untouched' }
  }

  async #settle(event: LoopPathEvent, id: string): Promise<Decision | null> {
    const key = this.#keyOf(id)
    if (key === null) {
      this.left = `${id} is not at work`
      return null
    }
    if (this.#timers.delete(key)) return this.#told({ kind: 'settled', key, value: null }, id)
    const output = 'output' in event ? event.output : null
    const made = typeof output === 'object' && output !== null && 'ok' in output ? output : null
    if (id === 'respond') await this.#options.model.finish(answerOf(event))
    if (id === 'compact' && made?.ok === false) {
      this.#drop(key)
      return this.#told({ kind: 'settled', key, value: made }, id)
    }
    return this.#wait(key, id)
  }

  async #wait(key: string, id: string): Promise<Decision | null> {
    const live = this.#live.get(key)
    if (live === undefined) return null
    // Calls that were aborted are heard at once, or not before the time for it is over.
    if (id === 'drain') void allElse().then(() => this.#options.clock.advance(DRAIN_MS))
    const decision = await Promise.race([live.settled, this.#options.patience()])
    if (decision === 'late') {
      this.late = `${id} did not settle`
      return null
    }
    this.#live.delete(key)
    return this.#told(decision, id)
  }

  #told(decision: Decision, id: string): Decision {
    if (decision.kind === 'settled') {
      const event: unknown = { type: `xstate.done.actor.${id}`, output: decision.value, actorId: id }
      if (isEvent(event)) this.#options.onEvent(event)
    } else if (decision.kind === 'bug') {
      this.#options.onEvent({ type: `xstate.error.actor.${id}`, error: decision.error, actorId: id })
    }
    return decision
  }

  async #finish(): Promise<Decision> {
    if (!this.#isFinishing && this.late === null && !this.#options.onStep(this.#at))
      this.left ??= 'at its end'
    this.#isFinishing = true
    if (!this.#options.isStopping()) {
      const command = { type: 'run.cancel' } as const
      this.#options.onEvent(command)
      return { kind: 'command', command, reply: () => undefined }
    }
    const key = this.#keyOf('drain')
    const decision = key === null ? null : await this.#wait(key, 'drain')
    if (decision === null) throw new Error('a run that was cancelled does not stop')
    return decision
  }

  #keyOf(id: string): string | null {
    const keys = [...this.#live.keys(), ...this.#timers, ...this.#registered.keys()]
    return keys.find((key) => key.split('/').at(-2) === id) ?? null
  }

  #answerAfter(at: number): Answer {
    const done = this.#options.events.slice(at).find(({ type }) => type === 'xstate.done.actor.respond')
    return done === undefined ? NOTHING : answerOf(done)
  }
}

const NOTHING: Answer = { error: { code: '', message: '', retryAt: null, isContinuity: false } }

function answerOf(event: LoopPathEvent): Answer {
  if (event.type !== 'xstate.done.actor.respond') return NOTHING
  return event.output.ok ? { response: event.output.response } : { error: event.output.error }
}

// What an effect settled with is what the chart takes under its name.
function isEvent(event: unknown): event is LoopPathEvent {
  return typeof event === 'object' && event !== null && 'type' in event
}
