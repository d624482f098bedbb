import type { Clock } from '../../src/clock.ts'
import type { Frame } from '../../src/frames/generated/frame.ts'
import type { FrameCursor } from '../../src/journal/frame-cursor.ts'
import { FrameLog } from '../../src/journal/frame-log.ts'
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
    journal.log.append(this.#frames)
    return { journal, frames: this.#frames }
  }

  read(): readonly Frame[] {
    return this.#frames
  }

  cursor(_: string, from: number): FrameCursor {
    const log = new FrameLog()
    log.append(this.#frames)
    log.end()
    return log.cursor(from)
  }

  list(): readonly [] {
    return []
  }

  find(): null {
    return null
  }

  close(): void {
    // Nothing is open.
  }
}
