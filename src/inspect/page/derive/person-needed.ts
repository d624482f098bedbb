import { callsInDoubt, openQuestions } from './call-at.ts'
import type { CallRecord } from './call-records.ts'

/**
 * Whether a run waited for somebody at a frame. `maybe` is for questions of a run further in: whether those were
 * answered is in its own log.
 */
export type PersonNeed = 'yes' | 'maybe' | 'no'

/** What a run needed of a person at a frame, by its log. */
export function personNeeded(calls: readonly CallRecord[], at: number): PersonNeed {
  const paths = [...openQuestions(calls, at).map(({ path }) => path), ...callsInDoubt(calls, at)]
  if (paths.some((path) => path.length === 1)) return 'yes'
  return paths.length === 0 ? 'no' : 'maybe'
}
