import { nextTurn } from '../journal/next-turn.ts'
import type { RunStore, StoredRun } from '../journal/run-store.ts'
import type { JsonObject } from '../protocol/json.ts'
import type { RunRegistry } from './run-registry.ts'
import { statusOf, type RunStatus } from './run-status.ts'

export interface ListQuery {
  /** The state, or a state that it is in, such as `working`. */
  readonly state?: string | undefined
  readonly status?: RunStatus | undefined
  /** A part of the id, the model, the agent or the state. */
  readonly q?: string | undefined
  readonly kind?: 'run' | 'conversation' | undefined
  /** What it waits for somebody to do. */
  readonly needs?: 'approval' | 'reconcile' | 'any' | undefined
  readonly limit: number
  /** `next` of the page before. */
  readonly before?: string | undefined
}

const ROWS_A_TURN = 200

/** A page of the runs of a store, newest first. `allowed` are the only ones that may be seen; null: all. */
export async function listRuns(
  { store, registry }: { readonly store: RunStore; readonly registry: RunRegistry },
  query: ListQuery,
  allowed: ReadonlySet<string> | null,
): Promise<JsonObject> {
  const runs: JsonObject[] = []
  let last: string | null = null
  let rows = 0
  for (const stored of store.list().toSorted(newestFirst)) {
    if (allowed !== null && !allowed.has(stored.runId)) continue
    if (!isWanted(stored, query)) continue
    // A row may take a look into its log: others have their turn in between.
    rows += 1
    if (rows % ROWS_A_TURN === 0) await nextTurn()
    const row = rowOf(stored, registry)
    if (!isMatch(row, query)) continue
    // There is one more than the page has room for.
    if (runs.length === query.limit) return { runs, next: last }
    runs.push(row)
    last = placeOf(stored.startedAt, stored.runId)
  }
  return { runs, next: null }
}

/** The place of a run in the list, as a text that sorts as the list does. */
function placeOf(startedAt: number, runId: string): string {
  return `${String(startedAt).padStart(16, '0')}_${runId}`
}

function newestFirst(one: StoredRun, other: StoredRun): number {
  return placeOf(one.startedAt, one.runId) < placeOf(other.startedAt, other.runId) ? 1 : -1
}

/** What can be told without reading a log. */
function isWanted(
  { kind, state, startedAt, runId }: StoredRun,
  { kind: wanted, state: within, needs, before }: ListQuery,
): boolean {
  if (wanted !== undefined && kind !== wanted) return false
  if (within !== undefined && state !== within && !state.startsWith(`${within}.`)) return false
  if (needs !== undefined && !isNeed(needsOf(state), needs)) return false
  return before === undefined || placeOf(startedAt, runId) < before
}

function isMatch(row: JsonObject, { status, q }: ListQuery): boolean {
  if (status !== undefined && row['status'] !== status) return false
  if (q === undefined) return true
  const sought = q.toLowerCase()
  return ['run_id', 'model', 'agent', 'state'].some((field) => {
    const value = row[field]
    return typeof value === 'string' && value.toLowerCase().includes(sought)
  })
}

function rowOf(stored: StoredRun, registry: RunRegistry): JsonObject {
  const { runId, kind, state, turn, model, startedAt, updatedAt, frames, owner } = stored
  const agent = kind === 'run' ? registry.agentOf(runId) : null
  const isLive = registry.live(runId) !== null
  return {
    run_id: runId,
    kind,
    state,
    status: statusOf(stored, isLive, registry.has(agent)),
    turn,
    model,
    agent,
    started_at: startedAt,
    updated_at: updatedAt,
    frames,
    owner: owner === null ? null : { ...owner },
    needs: needsOf(state),
  }
}

function isNeed(found: string | null, wanted: string): boolean {
  return wanted === 'any' ? found !== null : found === wanted
}

function needsOf(state: string): string | null {
  if (state.endsWith('.awaitingApproval')) return 'approval'
  return state.endsWith('.reconciling') ? 'reconcile' : null
}
