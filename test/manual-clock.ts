import { SimulatedClock } from '../src/testing/simulated-clock.ts'

/** A clock that stands still until a test moves it. */
export class ManualClock extends SimulatedClock {
  constructor() {
    super(1_000_000)
  }

  /** Timers that are armed and have not fired. */
  get timersArmed(): number {
    return this.armed.length
  }
}
