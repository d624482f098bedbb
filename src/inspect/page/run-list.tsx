import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'

import { chartLayout } from '../../chart/generated/chart-layout.ts'
import { agoText } from './ago-text.ts'
import type { RunRow } from './answers.ts'
import { IMPOSTOR, type Api, type ApiError } from './api.ts'
import { countText } from './derive/figures.ts'
import { SafeText } from './panels/safe-text.tsx'
import { formatRoute } from './route.ts'
import { NO_FILTER, type RunFilter } from './run-filter.ts'
import { StatePill } from './state-pill.tsx'
import { TokenForm } from './token-form.tsx'
import { useNow } from './use-now.ts'
import { useRuns } from './use-runs.ts'

/** What the list of runs is given. */
export interface RunListProps {
  readonly api: Api
  readonly filter: RunFilter
  /** Whether whoever looks at the list could be the one that a run waits for. */
  readonly mayAnswer: boolean
  readonly onFilter: (filter: RunFilter) => void
  readonly onToken: (token: string) => void
}

const STATES = chartLayout.states.filter(({ kind }) => kind !== 'compound').map(({ id }) => id)
const STATUSES = ['running', 'suspended', 'ended', 'elsewhere', 'stored']

/** Every run of the service, newest first, with filters; it keeps itself up to date. */
export function RunList({ api, filter, mayAnswer, onFilter, onToken }: RunListProps): JSX.Element {
  const runs = useRuns(api, filter)
  const nowMs = useNow(true)
  const { rows } = runs
  useEffect(() => {
    document.title = 'Runs · loopchart'
  }, [])
  return (
    <div class="list-view">
      <header class="list-header">
        <h1 class="brand">
          loopchart <span class="soft">runs</span>
        </h1>
        <Filters filter={filter} mayAnswer={mayAnswer} onFilter={onFilter} />
      </header>
      {runs.problem !== null && <ListProblem problem={runs.problem} onAgain={runs.again} onToken={onToken} />}
      <main class="list-body">
        {rows.length > 0 && <RunTable rows={rows} nowMs={nowMs} />}
        {rows.length === 0 && !runs.isLoading && runs.problem === null && (
          <Nothing
            isFiltered={filter !== NO_FILTER && formatRoute({ view: 'runs', filter }) !== '#/runs'}
            onFilter={onFilter}
          />
        )}
        {rows.length === 0 && runs.isLoading && <p class="list-empty soft">Reading the runs…</p>}
        {runs.next !== null && (
          <button type="button" class="button list-more" onClick={runs.more}>
            Older runs
          </button>
        )}
      </main>
    </div>
  )
}

const TYPING_PAUSE_MS = 250

type FiltersProps = Pick<RunListProps, 'filter' | 'mayAnswer' | 'onFilter'>

function Filters({ filter, mayAnswer, onFilter }: FiltersProps): JSX.Element {
  const [text, setText] = useState(filter.text)
  useEffect(() => setText(filter.text), [filter.text])
  useEffect(() => {
    if (text === filter.text) return undefined
    const timer = setTimeout(() => onFilter({ ...filter, text }), TYPING_PAUSE_MS)
    return () => clearTimeout(timer)
    // The filter too: the timer of one that has been changed since would bring back what it was.
  }, [text, filter])
  const choose = (part: Partial<RunFilter>): void => onFilter({ ...filter, text, ...part })
  return (
    <div class="list-filters" role="search" aria-label="Filter runs">
      <input
        type="search"
        class="search"
        placeholder="Search runs"
        aria-label="Search runs"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <select
        aria-label="State"
        value={filter.state}
        onChange={(event) => choose({ state: event.currentTarget.value })}
      >
        <option value="">any state</option>
        {STATES.map((state) => (
          <option key={state} value={state}>
            {state}
          </option>
        ))}
      </select>
      <select
        aria-label="Status"
        value={filter.status}
        onChange={(event) => choose({ status: event.currentTarget.value })}
      >
        <option value="">any status</option>
        {STATUSES.map((status) => (
          <option key={status} value={status}>
            {status}
          </option>
        ))}
      </select>
      <button
        type="button"
        class="filter-chip"
        aria-pressed={filter.needsPerson}
        onClick={() => choose({ needsPerson: !filter.needsPerson })}
      >
        {mayAnswer ? 'waits for you' : 'waits for somebody'}
      </button>
    </div>
  )
}

function RunTable({ rows, nowMs }: { rows: readonly RunRow[]; nowMs: number }): JSX.Element {
  return (
    <table class="runs">
      <caption class="hidden-visually">Runs, newest first</caption>
      <thead>
        <tr>
          <th scope="col">Run</th>
          <th scope="col">State</th>
          <th scope="col">Status</th>
          <th scope="col">Model</th>
          <th scope="col" class="is-number">
            Turn
          </th>
          <th scope="col" class="is-number">
            Frames
          </th>
          <th scope="col" class="is-number">
            Updated
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <RunLine key={row.runId} row={row} nowMs={nowMs} />
        ))}
      </tbody>
    </table>
  )
}

function RunLine({ row, nowMs }: { row: RunRow; nowMs: number }): JSX.Element {
  const { runId, kind, state, status, model, agent, turn, frames, updatedAt, needs } = row
  return (
    <tr class="run-line">
      <th scope="row" class="run-cell">
        <a class="run-name-link" href={formatRoute({ view: 'run', runId, at: null, panel: null })}>
          <SafeText text={runId} />
        </a>
        {agent !== null && <span class="soft run-agent">{agent}</span>}
        {kind !== 'run' && kind !== '' && <span class="soft run-agent">{kind}</span>}
      </th>
      <td data-name="State">
        {state !== '' && <StatePill state={state} />}
        {needs !== null && (
          <span class="needs">needs {needs === 'reconcile' ? 'an answer' : 'approval'}</span>
        )}
      </td>
      <td data-name="Status">
        <span class={`status is-${status}`}>{status}</span>
      </td>
      <td data-name="Model" class="soft">
        <SafeText text={model} />
      </td>
      <td data-name="Turn" class="is-number">
        {turn}
      </td>
      <td data-name="Frames" class="is-number">
        {countText(frames)}
      </td>
      <td data-name="Updated" class="is-number soft">
        {agoText(updatedAt, nowMs)}
      </td>
    </tr>
  )
}

function Nothing({
  isFiltered,
  onFilter,
}: {
  isFiltered: boolean
  onFilter: RunListProps['onFilter']
}): JSX.Element {
  return (
    <div class="list-empty">
      <p>
        {isFiltered
          ? 'No run is like that.'
          : 'There are no runs yet. They appear here as soon as one starts.'}
      </p>
      {isFiltered && (
        <button type="button" class="button" onClick={() => onFilter(NO_FILTER)}>
          Show all
        </button>
      )}
    </div>
  )
}

interface ListProblemProps {
  readonly problem: ApiError
  readonly onAgain: () => void
  readonly onToken: (token: string) => void
}

function ListProblem({ problem, onAgain, onToken }: ListProblemProps): JSX.Element {
  const isToken = problem.status === 401 || problem.code === IMPOSTOR
  return (
    <div class="banner is-bad" role="alert">
      <p class="banner-text">
        {isToken
          ? 'What answers does not know this token: the service may have been started again. Open the address that it printed, or paste its token here.'
          : `The list may be old: ${problem.message}. It is tried again.`}
      </p>
      {isToken ? (
        <TokenForm onToken={onToken} />
      ) : (
        <button type="button" class="small-button" onClick={onAgain}>
          Try now
        </button>
      )}
    </div>
  )
}
