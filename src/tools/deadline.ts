import type { Clock } from '../clock.ts'

/** A point in time to race against. */
export interface Deadline {
  /** Resolves with undefined when the time has come, never otherwise. */
  readonly elapsed: Promise<undefined>
  readonly clear: () => void
}

/** Arms a deadline; clear it when the race is over. */
export function startDeadline(clock: Clock, atMs: number): Deadline {
  const { promise, resolve } = Promise.withResolvers<undefined>()
  return { elapsed: promise, clear: clock.setTimer(atMs, () => resolve(undefined)) }
}
