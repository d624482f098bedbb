import { useCallback, useEffect, useRef, useState } from 'preact/hooks'

import type { RunRow } from './answers.ts'
import { ApiError, type Api } from './api.ts'
import { backOffMs } from './back-off.ts'
import { queryOf, withFresh, withOlder, type KnownRuns, type RunFilter } from './run-filter.ts'

/** The list of runs as it is known. */
export interface Runs {
  readonly rows: readonly RunRow[]
  /** What to ask for the runs before these; null when there are none. */
  readonly next: string | null
  readonly isLoading: boolean
  /** Why the list could not be read the last time; what is shown may be old. */
  readonly problem: ApiError | null
  readonly more: () => void
  readonly again: () => void
}

const REFRESH_MS = 3000
const NOTHING: KnownRuns = { rows: [], next: null }

/**
 * Reads the list and keeps it up to date while somebody looks at it; with longer pauses while the service is away. With
 * a token that was refused nothing more is asked: another token comes with another `api`.
 */
export function useRuns(api: Api, filter: RunFilter): Runs {
  const [known, setKnown] = useState<KnownRuns>(NOTHING)
  const [isLoading, setLoading] = useState(true)
  const [problem, setProblem] = useState<ApiError | null>(null)
  const wake = useRef<() => void>(() => undefined)
  const refused = useRef<Api | null>(null)
  const query = JSON.stringify(queryOf(filter))
  useEffect(() => {
    const closing = new AbortController()
    let failures = 0
    let timer: ReturnType<typeof setTimeout> | undefined
    let isFirst = true
    let isReading = false
    // Another filter makes no other token.
    if (refused.current === api) return undefined
    setLoading(true)
    const read = async (): Promise<void> => {
      // Asked for while it is read: one reading is enough, and only one is to come after it.
      if (isReading) return
      isReading = true
      clearTimeout(timer)
      if (!document.hidden || isFirst) {
        try {
          const page = await api.runs(queryOf(filter), closing.signal)
          const isWhole = isFirst
          setKnown((before) => (isWhole ? { rows: page.runs, next: page.next } : withFresh(before, page)))
          isFirst = false
          failures = 0
          setProblem(null)
        } catch (error) {
          if (closing.signal.aborted) return
          failures += 1
          if (error instanceof ApiError && error.status === 401) refused.current = api
          setProblem(
            error instanceof ApiError
              ? error
              : new ApiError(0, 'the list cannot be read', { code: 'unreadable' }),
          )
        }
        setLoading(false)
      }
      isReading = false
      if (!closing.signal.aborted && refused.current !== api) {
        timer = setTimeout(
          () => void read(),
          failures === 0 ? REFRESH_MS : backOffMs(failures, Math.random()),
        )
      }
    }
    wake.current = () => void read()
    void read()
    return () => {
      clearTimeout(timer)
      closing.abort()
    }
    // The text of the query stands for the filter.
  }, [api, query])
  const more = useCallback(() => {
    if (known.next === null) return
    void api.runs({ ...queryOf(filter), before: known.next }).then(
      (page) => setKnown((before) => withOlder(before, known.next, page)),
      (error: unknown) => setProblem(error instanceof ApiError ? error : null),
    )
  }, [api, query, known.next])
  return { ...known, isLoading, problem, more, again: () => wake.current() }
}
