import { SimulatedClock } from '../src/testing/simulated-clock.ts'

/** A clock that stands still until a test moves it. */
export class ManualClock extends SimulatedClock {
  /** How often it was asked for the time: whatever comes in is noted with one. */
  reads = 0

  constructor() {
    super(1_000_000)
    const { now } = this
    Object.assign(this, {
      now: () => {
        this.reads += 1
        return now()
      },
    })
  }

  /** Timers that are armed and have not fired. */
  get timersArmed(): number {
    return this.armed.length
  }
}
