import type { RunPage, RunRow } from './answers.ts'
import type { RunQuery } from './api.ts'

/** Which runs the list shows. Empty text means any. */
export interface RunFilter {
  readonly text: string
  readonly state: string
  readonly status: string
  /** Only runs that wait for somebody. */
  readonly needsPerson: boolean
}

/** Every run. */
export const NO_FILTER: RunFilter = { text: '', state: '', status: '', needsPerson: false }

const PAGE_RUNS = 100

/** What the service is asked for. */
export function queryOf({ text, state, status, needsPerson }: RunFilter): RunQuery {
  return {
    limit: PAGE_RUNS,
    ...(text !== '' && { q: text }),
    ...(state !== '' && { state }),
    ...(status !== '' && { status }),
    ...(needsPerson && { needs: 'any' }),
  }
}

/** The runs that are known, with a newer first page put in: new runs come first, older pages stay. */
export function withFresh(known: KnownRuns, page: RunPage): KnownRuns {
  const fresh = new Set(page.runs.map(({ runId }) => runId))
  const oldest = page.runs.at(-1)?.startedAt ?? 0
  // What is as new as this page and no longer on it has left the filter.
  const older = known.rows.filter(({ runId, startedAt }) => !fresh.has(runId) && startedAt < oldest)
  const isAll = page.next === null || older.length === 0
  return { rows: [...page.runs, ...(page.next === null ? [] : older)], next: isAll ? page.next : known.next }
}

/** Runs that were read, and what to ask for those before them. */
export interface KnownRuns {
  readonly rows: readonly RunRow[]
  readonly next: string | null
}

/** The runs that are known, with the page of older ones that was asked for with `before`, unless it is out of date. */
export function withOlder(known: KnownRuns, before: string | null, page: RunPage): KnownRuns {
  // Asked twice, or another filter since.
  if (known.next !== before) return known
  const had = new Set(known.rows.map(({ runId }) => runId))
  return { rows: [...known.rows, ...page.runs.filter(({ runId }) => !had.has(runId))], next: page.next }
}
