import { hash } from 'node:crypto'

import type { Clock } from '../clock.ts'
import { LoopchartError } from '../errors.ts'
import type { RunStore } from '../journal/run-store.ts'
import type { RunInput } from '../loop/run-input.ts'
import type { StartedRun } from '../loop/run.ts'
import { canonicalJson } from '../protocol/canonical-json.ts'
import type { JsonObject } from '../protocol/json.ts'
import { keyReused } from './answered-keys.ts'
import type { AskedLimits } from './narrow-limits.ts'
import { keyedRunId, newRunId } from './run-ids.ts'
import { begun, type NewRun, type RunRegistry } from './run-registry.ts'

const LOOK_EVERY_MS = 20
const LOOKS_MAX = 100

export interface RunRequest {
  readonly agent: string
  readonly input: RunInput
  readonly limits: AskedLimits
}

/** Who asks, and the key that makes it the same request when it comes again. */
export interface RequestKey {
  readonly tokenId: string
  readonly key: string
}

export interface BeginParts {
  readonly store: RunStore
  readonly registry: RunRegistry
  readonly clock: Clock
}

export interface BegunRun {
  readonly isNew: boolean
  readonly body: JsonObject
}

/**
 * Begins a run, or finds the one that the same request began before, be it in an earlier process. Resolves when the run
 * is in the store. Throws `key_reused` for another request under the same key, and what `startRun` throws.
 */
export async function beginRun(
  parts: BeginParts,
  request: RunRequest,
  by: RequestKey | null,
): Promise<BegunRun> {
  const { registry, store, clock } = parts
  const { agent, input, limits } = request
  const requestHash = hash('sha256', canonicalJson([agent, input, limits]), 'base64url')
  const runId = by === null ? newRunId(clock.now()) : keyedRunId(by.tokenId, by.key)
  // No step is waited for between looking and beginning: of two requests at once, the second finds the first.
  if (by !== null && (registry.live(runId) !== null || store.find(runId) !== null)) {
    if (registry.markOf(runId)?.request_hash !== requestHash) throw keyReused()
    return { isNew: false, body: await found(parts, runId) }
  }
  const run = await startedBy(parts, { runId, agent, input, limits, requestHash }, by !== null)
  if (run !== null) return { isNew: true, body: await answerOf(run) }
  if (registry.markOf(runId)?.request_hash !== requestHash) throw keyReused()
  return { isNew: false, body: await found(parts, runId) }
}

/** The run; null: another process began it at this moment, and it is in the store. */
async function startedBy(
  { registry, store, clock }: BeginParts,
  run: NewRun,
  isKeyed: boolean,
): Promise<StartedRun | null> {
  try {
    return registry.start(run)
  } catch (error) {
    if (!isKeyed || !(error instanceof LoopchartError) || error.code !== 'run_exists') throw error
    // It has a name in the store and no frame yet, which takes that process one write.
    for (let look = 0; look < LOOKS_MAX && store.find(run.runId) === null; look += 1) {
      await new Promise<void>((resolve) => void clock.setTimer(clock.now() + LOOK_EVERY_MS, resolve))
    }
    if (store.find(run.runId) === null) throw error
    return null
  }
}

async function found({ registry, store }: BeginParts, runId: string): Promise<JsonObject> {
  const live = registry.live(runId)
  if (live !== null) return answerOf(live)
  return { run_id: runId, state: store.find(runId)?.state ?? '' }
}

async function answerOf(run: StartedRun): Promise<JsonObject> {
  await begun(run)
  return { run_id: run.id, state: run.state }
}
