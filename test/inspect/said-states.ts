import type { Frame } from '../../src/frames/generated/frame.ts'

/** The state that a log itself says a run is in after each of its frames; null before the first is named. */
export function saidStates(frames: readonly Frame[]): readonly (string | null)[] {
  let state: string | null = null
  return frames.map((frame) => {
    if (frame.type === 'state_entered') ({ state } = frame)
    // Whoever takes a run up has seen nothing of the response that was coming in; no frame says so.
    if (frame.type === 'run_resumed' && state === 'working.responding.streaming')
      state = 'working.responding.requesting'
    return state
  })
}
