import { LoopchartError } from '../errors.ts'
import type { Frame } from '../frames/generated/frame.ts'
import { restoreRun } from '../loop/restore-run.ts'
import type { EndedRun } from '../loop/run.ts'

/** What a run came to that somebody else saw to its end. Throws `log_corrupt` when its log does not say. */
export function endedRun(frames: readonly Frame[]): EndedRun {
  const { snapshot, calls } = restoreRun(frames)
  const { output } = snapshot
  if (output === undefined) throw new LoopchartError('log_corrupt', 'the run ended in no final state')
  return { status: 'ended', ...output, calls }
}
