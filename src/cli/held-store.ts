import type { Clock } from '../clock.ts'
import type { Frame } from '../frames/generated/frame.ts'
import type { Decision, EffectRun } from '../journal/journal.ts'
import type { RunJournal, RunStore, StoredRun, TakenRun } from '../journal/run-store.ts'

/** A store for one run of this process, which can be let go of before it ends. */
export class HeldStore implements RunStore {
  /** What the log of the run had when it was taken up. */
  past: readonly Frame[] = []
  readonly #store: RunStore
  #journal: HeldJournal | null = null

  constructor(store: RunStore) {
    this.#store = store
  }

  create(runId: string, clock: Clock): RunJournal {
    return this.#hold(this.#store.create(runId, clock))
  }

  take(runId: string, clock: Clock): TakenRun {
    const { journal, frames } = this.#store.take(runId, clock)
    this.past = frames
    return { journal: this.#hold(journal), frames }
  }

  read(runId: string): Iterable<Frame> {
    return this.#store.read(runId)
  }

  list(): readonly StoredRun[] {
    return this.#store.list()
  }

  close(): void {
    this.#store.close()
  }

  /**
   * Lets go of the run where it is: what is at work is aborted, nothing further starts, its log can be resumed from.
   * The result of the run then never comes. False when it has ended already.
   */
  async letGo(): Promise<boolean> {
    const journal = this.#journal
    if (journal === null || journal.log.isEnded) return false
    if (journal.log.frames.at(-1)?.type === 'run_ended') return false
    await journal.letGo()
    // What was being written when it was let go of may have been the end.
    return journal.log.frames.at(-1)?.type !== 'run_ended'
  }

  #hold(journal: RunJournal): RunJournal {
    this.#journal = new HeldJournal(journal)
    return this.#journal
  }
}

class HeldJournal implements RunJournal {
  readonly #journal: RunJournal
  #isLetGo = false

  constructor(journal: RunJournal) {
    this.#journal = journal
  }

  get log(): RunJournal['log'] {
    return this.#journal.log
  }

  async letGo(): Promise<void> {
    this.#isLetGo = true
    await this.#journal.close()
  }

  start(key: string, effect: EffectRun): void {
    this.#journal.start(key, effect)
  }

  timer(key: string, atMs: number): void {
    // One that nobody waits for must not keep the process.
    if (!this.#isLetGo) this.#journal.timer(key, atMs)
  }

  doubt(key: string): void {
    this.#journal.doubt(key)
  }

  abort(key: string): void {
    this.#journal.abort(key)
  }

  next(): Promise<Decision> {
    // To ask for the next decision is what launches effects.
    return this.#isLetGo ? new Promise(() => undefined) : this.#journal.next()
  }

  commit(frames: readonly Frame[]): Promise<void> {
    return this.#journal.commit(frames)
  }

  observe(frame: Frame): void {
    this.#journal.observe(frame)
  }

  send(command: Parameters<RunJournal['send']>[0]): ReturnType<RunJournal['send']> {
    return this.#journal.send(command)
  }

  close(): Promise<void> {
    return this.#journal.close()
  }
}
