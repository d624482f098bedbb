/** How fast a run is played: times the recorded speed, or as fast as can be watched. */
export type PlaySpeed = 1 | 4 | 16 | 'max'

/** The speeds there are, the slowest first. */
export const PLAY_SPEEDS: readonly PlaySpeed[] = [1, 4, 16, 'max']

/** Where the player is: a frame, and the recorded time that has passed since it. */
export interface PlayPosition {
  readonly seq: number
  readonly restMs: number
}

// Nobody watches a run wait for a night: a silence is played as one of this length.
const SILENCE_MS_MAX = 2000

// At full speed the longest run takes about this long.
const WHOLE_RUN_MS = 5000
const FRAMES_PER_MS_MIN = 0.2

/** Where the player is after `elapsedMs` of the watcher's time; at the last frame, it stays there. */
export function playOn(
  frames: readonly { readonly ts: number }[],
  from: PlayPosition,
  elapsedMs: number,
  speed: PlaySpeed,
): PlayPosition {
  const last = frames.length - 1
  if (speed === 'max') {
    const framesPerMs = Math.max(FRAMES_PER_MS_MIN, frames.length / WHOLE_RUN_MS)
    const moved = from.restMs + elapsedMs * framesPerMs
    const whole = Math.floor(moved)
    return from.seq + whole >= last
      ? { seq: last, restMs: 0 }
      : { seq: from.seq + whole, restMs: moved - whole }
  }
  let { seq } = from
  let restMs = from.restMs + elapsedMs * speed
  while (seq < last) {
    const gapMs = Math.min(SILENCE_MS_MAX, Math.max(0, (frames[seq + 1]?.ts ?? 0) - (frames[seq]?.ts ?? 0)))
    if (gapMs > restMs) return { seq, restMs }
    restMs -= gapMs
    seq += 1
  }
  return { seq: last, restMs: 0 }
}
