import { LoopchartError } from '../errors.ts'
import type { RunStore } from '../journal/run-store.ts'
import { listingCommand, type StoreFlags } from './store-option.ts'

const SHOWN_MAX = 4

/**
 * The id of a stored run from its beginning. Throws `run_unknown` when there is none, `usage` when there are several
 * that begin so.
 */
export function findRunId(store: RunStore, given: string, flags: StoreFlags): string {
  const logs = store.list()
  const ids = logs.flatMap(({ runId, kind }) => (kind === 'run' ? [runId] : []))
  if (ids.includes(given)) return given
  if (logs.some(({ runId }) => runId === given)) {
    throw new LoopchartError(
      'usage',
      `${given} is a conversation and not a run; loopchart chat --conversation goes on with it`,
    )
  }
  const found = given === '' ? [] : ids.filter((id) => id.startsWith(given))
  const [first] = found
  if (first === undefined) {
    throw new LoopchartError(
      'run_unknown',
      `the store has no run ${JSON.stringify(given)}; ${listingCommand(flags)} lists those it has`,
    )
  }
  if (found.length === 1) return first
  const shown = found.slice(0, SHOWN_MAX).join(', ')
  const more = found.length > SHOWN_MAX ? ` and ${found.length - SHOWN_MAX} more` : ''
  throw new LoopchartError(
    'usage',
    `${found.length} runs begin with ${given}: ${shown}${more}; give more of the id`,
  )
}
