import type { RunResult } from '../loop/run.ts'

/** What a finished command tells the shell. */
export const ExitCode = {
  ok: 0,
  internal: 1,
  /** Two runs differ, or what was to follow does not. */
  different: 1,
  usage: 2,
  limitExceeded: 3,
  failed: 4,
  /** The run waits for an approval that nobody can give. */
  unapproved: 5,
  suspended: 6,
  cancelled: 130,
} as const

/** What became of a run, for the shell. */
export function exitCodeOf(result: RunResult): number {
  if (result.status === 'suspended') return ExitCode.suspended
  switch (result.state) {
    case 'done':
      return ExitCode.ok
    case 'limitExceeded':
      return ExitCode.limitExceeded
    case 'failed':
      return ExitCode.failed
    case 'cancelled':
      return ExitCode.cancelled
  }
}
