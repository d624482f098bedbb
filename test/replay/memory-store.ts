import type { Clock } from '../../src/clock.ts'
import type { Frame } from '../../src/frames/generated/frame.ts'
import { MemoryJournal } from '../../src/journal/memory-journal.ts'
import type { RunJournal, RunStore, TakenRun } from '../../src/journal/run-store.ts'

/** A store that has one run, from its frames. */
export class MemoryStore implements RunStore {
  readonly #frames: readonly Frame[]

  constructor(frames: readonly Frame[]) {
    this.#frames = JSON.parse(JSON.stringify(frames)) as Frame[]
  }

  create(): RunJournal {
    throw new Error('this store has its run')
  }

  take(_: string, clock: Clock): TakenRun {
    const journal = new MemoryJournal(clock)
    for (const frame of this.#frames) journal.log.append(frame)
    return { journal, frames: this.#frames }
  }

  read(): readonly Frame[] {
    return this.#frames
  }

  list(): readonly [] {
    return []
  }

  close(): void {
    // Nothing is open.
  }
}
