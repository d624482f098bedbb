import type { Frame } from '../frames/generated/frame.ts'
import type { StoredRun } from './run-store.ts'

/** What the row of a run says of its log. */
export type RunSummary = Omit<StoredRun, 'runId' | 'owner'>

/** Of a run that has no frame yet. */
export const NO_FRAMES: RunSummary = {
  startedAt: 0,
  updatedAt: 0,
  state: '',
  status: 'open',
  turn: 0,
  model: '',
  frames: 0,
}

/** What a summary says after more frames. */
export function summarise(before: RunSummary, frames: readonly Frame[]): RunSummary {
  let { startedAt, state, status, turn, model } = before
  for (const frame of frames) {
    if (frame.type === 'state_entered') ({ state, turn } = frame)
    else if (frame.type === 'run_started') [startedAt, model] = [frame.ts, frame.model]
    else if (frame.type === 'run_ended') [state, status] = [frame.state, 'ended']
  }
  const updatedAt = frames.at(-1)?.ts ?? before.updatedAt
  return { startedAt, updatedAt, state, status, turn, model, frames: before.frames + frames.length }
}
