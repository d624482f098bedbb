import type { Frame } from '../frames/generated/frame.ts'
import type { StoredRun } from './run-store.ts'

/** What the row of a log says of it. */
export type RunSummary = Omit<StoredRun, 'runId' | 'owner' | 'kind'>

// In the place of a state, which no run can have.
const CONVERSATION = 'conversation'

/** Whether a row is about a run or about a conversation. */
export function kindOf({ state }: RunSummary): StoredRun['kind'] {
  return state === CONVERSATION ? 'conversation' : 'run'
}

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

/** What a summary says after more frames, and after those of blocks: how many, and when the last of all came. */
export function summarise(
  before: RunSummary,
  frames: readonly Frame[],
  inBlocks = 0,
  updatedAt = frames.at(-1)?.ts ?? before.updatedAt,
): RunSummary {
  let { startedAt, state, status, turn, model } = before
  for (const frame of frames) {
    if (frame.type === 'state_entered') ({ state, turn } = frame)
    else if (frame.type === 'run_started') [startedAt, model] = [frame.ts, frame.model]
    else if (frame.type === 'run_ended') [state, status] = [frame.state, 'ended']
    else if (frame.type === 'conversation_started')
      [startedAt, model, state] = [frame.ts, frame.model, CONVERSATION]
    else if (frame.type === 'conversation_entry' && isQuestion(frame)) turn += 1
  }
  const count = before.frames + frames.length + inBlocks
  return { startedAt, updatedAt, state, status, turn, model, frames: count }
}

function isQuestion({ entry }: Extract<Frame, { type: 'conversation_entry' }>): boolean {
  return entry['type'] === 'message' && entry['role'] === 'user'
}
