import { timeText } from '../clock.ts'
import type { RunExplanation } from '../replay/explain-run.ts'
import { countOf } from './run-figures.ts'

/** Where a run is, why, and what it waits for, line by line. */
export function describeRun(explained: RunExplanation): readonly string[] {
  const { runId, status, state, turn, why, waitsFor, can, onResume, retryAt, deadlineAt } = explained
  const lines = [
    `run ${runId}: ${STATUS[status]} ${state}, turn ${turn}; ${countOf(explained.frames, 'frame')}, resumed ${countOf(explained.epoch, 'time')}`,
    `why: ${why}`,
    ...waitsFor.map((one) => `waits for: ${one}`),
    ...(retryAt === null ? [] : [`not before: ${timeText(retryAt)}`]),
    ...(deadlineAt === null ? [] : [`its time is up: ${timeText(deadlineAt)}`]),
    ...onResume.map((one) => `when resumed: ${one}`),
  ]
  return can.length === 0 ? lines : [...lines, `takes: ${can.join(', ')}`]
}

const STATUS: Readonly<Record<RunExplanation['status'], string>> = {
  ended: 'ended as',
  waiting: 'waits in',
  cut_off: 'was cut off in',
}
