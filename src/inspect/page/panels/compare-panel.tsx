import type { JSX } from 'preact'
import { useEffect, useId, useState } from 'preact/hooks'

import type { RunRow } from '../answers.ts'
import type { Api } from '../api.ts'
import type { PanelProps, RunModel } from '../run-model.ts'
import { CompareSides, type Comparison } from './compare-sides.tsx'
import { Nothing } from './marks.tsx'
import { SafeText } from './safe-text.tsx'

/** Frames on each side of where two runs part. */
const AROUND = 6
const RUNS_MAX = 50

/** Holds the run beside another one, at the place where they part. */
export function ComparePanel({ run, goTo, api }: PanelProps): JSX.Element {
  const [other, setOther] = useState('')
  const [found, setFound] = useState<Comparison | null>(null)
  const [failure, setFailure] = useState<string | null>(null)
  const [isBusy, setBusy] = useState(false)
  const rows = useOtherRuns(run.runId, api)
  const id = useId()
  const compare = async (): Promise<void> => {
    setBusy(true)
    setFailure(null)
    try {
      setFound(await compareRuns(api, run, other.trim()))
    } catch (error) {
      setFound(null)
      setFailure(error instanceof Error ? error.message : 'the runs could not be compared')
    } finally {
      setBusy(false)
    }
  }
  return (
    <div class="panel panel-scroll" tabIndex={0} role="region" aria-label="Compare">
      <form
        class="filter"
        onSubmit={(event) => {
          event.preventDefault()
          void compare()
        }}
      >
        <label for={id}>Compare with run</label>
        <input
          id={id}
          list={`${id}-runs`}
          value={other}
          autocomplete="off"
          spellcheck={false}
          onInput={({ currentTarget }) => setOther(currentTarget.value)}
        />
        <datalist id={`${id}-runs`}>
          {rows.map(({ runId, state }) => (
            <option key={runId} value={runId}>
              {state}
            </option>
          ))}
        </datalist>
        <button type="submit" disabled={isBusy || other.trim() === ''}>
          {isBusy ? 'Comparing…' : 'Compare'}
        </button>
      </form>
      {failure !== null && (
        <p class="note note-bad" role="alert">
          <SafeText text={failure} />
        </p>
      )}
      {found === null ? (
        failure === null && (
          <Nothing text="Times and ids do not count: two runs differ when they were told or did something else." />
        )
      ) : (
        <CompareSides runId={run.runId} frames={run.frames} found={found} around={AROUND} goTo={goTo} />
      )}
    </div>
  )
}

async function compareRuns(api: Api, run: RunModel, other: string): Promise<Comparison> {
  // Asked before: a run that ends in between may have gone further than what was compared.
  const a = run.isEnded
  const b = (await api.run(other)).status === 'ended'
  const hasEnded = { a, b }
  const diff = await api.diff(run.runId, other)
  const at = diff.at?.b ?? null
  if (at === null) return { other, diff, frames: [], hasEnded }
  const after = Math.max(-1, at - AROUND - 1)
  const { frames } = await api.frames(other, after, at + AROUND - after)
  return { other, diff, frames, hasEnded }
}

/** Runs to choose from. Without them, any id can still be typed. */
function useOtherRuns(runId: string, api: Api): readonly RunRow[] {
  const [rows, setRows] = useState<readonly RunRow[]>([])
  useEffect(() => {
    const abort = new AbortController()
    const load = async (): Promise<void> => {
      try {
        const { runs } = await api.runs({ limit: RUNS_MAX }, abort.signal)
        setRows(runs.filter((row) => row.runId !== runId && row.kind !== 'conversation'))
      } catch {
        // Left, or refused: a list to choose from is a help and no more.
      }
    }
    void load()
    return () => abort.abort()
  }, [runId, api])
  return rows
}
