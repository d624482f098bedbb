import { hostname } from 'node:os'

import type { StoredRun } from '../journal/run-store.ts'

/** Who drives a run, for clients. */
export const RUN_STATUSES = ['running', 'suspended', 'ended', 'elsewhere', 'stored'] as const

export type RunStatus = (typeof RUN_STATUSES)[number]

/**
 * `running`: in this process. `elsewhere`: in another one. `suspended`: nobody drives it and an agent of this service
 * can. `stored`: nobody drives it, and nobody here can.
 */
export function statusOf(
  { status, owner }: StoredRun,
  isDrivenHere: boolean,
  hasAgentHere: boolean,
): RunStatus {
  if (status === 'ended') return 'ended'
  if (isDrivenHere) return 'running'
  // The run of a call is driven by the run that made the call.
  if (owner !== null) return owner.pid === process.pid && owner.host === hostname() ? 'running' : 'elsewhere'
  return hasAgentHere ? 'suspended' : 'stored'
}
