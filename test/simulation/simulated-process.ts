import type { Clock } from '../../src/clock.ts'
import type { Frame } from '../../src/frames/generated/frame.ts'
import { QueuedJournal } from '../../src/journal/queued-journal.ts'
import type { SimulatedClock } from '../../src/testing/simulated-clock.ts'
import type { Random } from './random.ts'

/** One process: when it dies, no timer of its own fires any more and nothing it says is written. */
export class SimulatedProcess {
  isDead = false
  readonly clock: Clock
  readonly journal: SimulatedJournal

  constructor(clock: SimulatedClock, frames: Frame[], random: Random, crashRate: number) {
    this.clock = {
      now: clock.now,
      setTimer: (atMs, fire) =>
        clock.setTimer(atMs, () => {
          if (!this.isDead) fire()
        }),
    }
    this.journal = new SimulatedJournal(this, frames, random, crashRate)
  }
}

const NEVER = new Promise<never>(() => undefined)

/** A journal over a log that outlives it; dies with its process before or after a commit, or in between. */
class SimulatedJournal extends QueuedJournal {
  readonly #process: SimulatedProcess
  readonly #frames: Frame[]
  readonly #random: Random
  readonly #crashRate: number
  #synced: number

  constructor(process: SimulatedProcess, frames: Frame[], random: Random, crashRate: number) {
    super(process.clock)
    this.#process = process
    this.#frames = frames
    this.#random = random
    this.#crashRate = crashRate
    this.#synced = frames.length
  }

  commit(frames: readonly Frame[]): Promise<void> {
    if (this.#process.isDead) return NEVER
    if (this.#isDying()) return this.die()
    this.#frames.push(...frames)
    this.#synced = this.#frames.length
    return this.#isDying() ? this.die() : Promise.resolve()
  }

  observe(frame: Frame): void {
    if (this.#process.isDead || this.isClosed) return
    this.#frames.push(frame)
    if (this.#random.chance(this.#crashRate / 10)) void this.die()
  }

  /** What was seen since the last step may not have reached the disk. */
  die(): Promise<never> {
    const lost = this.#random.between(0, this.#frames.length - this.#synced)
    this.#frames.length -= lost
    this.#process.isDead = true
    return NEVER
  }

  #isDying(): boolean {
    return this.#random.chance(this.#crashRate)
  }
}
