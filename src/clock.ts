/**
 * Where time comes from. Everything that waits takes one, so that a test can move time by hand.
 */
export interface Clock {
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Calls `fire` once when `atMs` is reached, at once when it has passed; the answer takes the timer back. */
  readonly setTimer: (atMs: number, fire: () => void) => () => void
}

// setTimeout takes a longer wait for one of 1 ms.
const WAIT_MS_MAX = 2 ** 31 - 1

// A provider, a log or a clock of somebody's own may name a time that no calendar has.
const CALENDAR_MS_MAX = 8.64e15

/** A time for people to read, in UTC. */
export function timeText(ms: number): string {
  return Math.abs(ms) <= CALENDAR_MS_MAX ? new Date(ms).toISOString() : 'a time that no calendar has'
}

/** The clock of the machine. Its timers keep the process alive: a call that waits for its deadline is work. */
export const systemClock: Clock = {
  now: () => Date.now(),
  setTimer(atMs, fire) {
    const waitMs = atMs - Date.now()
    if (waitMs > WAIT_MS_MAX) return setLongTimer(waitMs, fire)
    const timer = setTimeout(fire, Math.max(0, waitMs))
    return () => clearTimeout(timer)
  },
}

/** One wait after the other. */
function setLongTimer(waitMs: number, fire: () => void): () => void {
  const startMs = performance.now()
  let timer: NodeJS.Timeout | undefined
  // What is left is measured on the monotonic clock, as timers are: setting the wall clock moves none.
  const arm = (): void => {
    const leftMs = waitMs - (performance.now() - startMs)
    timer = setTimeout(
      () => (leftMs > WAIT_MS_MAX ? arm() : fire()),
      Math.max(0, Math.min(leftMs, WAIT_MS_MAX)),
    )
  }
  arm()
  return () => clearTimeout(timer)
}
