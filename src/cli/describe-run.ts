import { timeText } from '../clock.ts'
import type { RunOwner } from '../journal/run-store.ts'
import type { RunExplanation } from '../replay/explain-run.ts'
import { ownerName } from './owner-name.ts'
import { countOf } from './run-figures.ts'

/** Where a run is, why, and what it waits for, line by line. What somebody drives at the moment is not cut off. */
export function describeRun(explained: RunExplanation, owner: RunOwner | null = null): readonly string[] {
  const { runId, status, state, turn, why, waitsFor, can, onResume, retryAt, deadlineAt } = explained
  const driver = status === 'ended' ? null : owner
  const lines = [
    `run ${runId}: ${driver === null ? STATUS[status] : 'is in'} ${state}, turn ${turn}; ${countOf(explained.frames, 'frame')}, resumed ${countOf(explained.epoch, 'time')}`,
    ...(driver === null ? [] : [`driven by: ${ownerName(driver)}`]),
    `why: ${why}`,
    ...waitsFor.map((one) => `waits for: ${one}`),
    ...(retryAt === null ? [] : [`not before: ${timeText(retryAt)}`]),
    ...(deadlineAt === null ? [] : [`its time is up: ${timeText(deadlineAt)}`]),
    ...(driver === null ? onResume : []).map((one) => `when resumed: ${one}`),
  ]
  return can.length === 0 ? lines : [...lines, `takes: ${can.join(', ')}`]
}

const STATUS: Readonly<Record<RunExplanation['status'], string>> = {
  ended: 'ended as',
  waiting: 'waits in',
  cut_off: 'was cut off in',
}
