import type { RefusedTurn } from './conversation-api.ts'
import type { ConversationParts } from './conversation-parts.ts'

/** Why a message is not taken. */
export type Refusal = Pick<RefusedTurn, 'reason' | 'message'>

/** More messages than this do not wait: a caller in a loop must be told. */
export const WAITING_MAX = 100

export const CLOSED: Refusal = { reason: 'closed', message: 'the conversation was closed' }
export const STORE_FAILED: Refusal = {
  reason: 'store_failed',
  message: 'the conversation cannot be written any more',
}
export const NOTHING_OPEN: Refusal = {
  reason: 'nothing_open',
  message: 'every run of this conversation has ended',
}
export const QUEUE_FULL: Refusal = {
  reason: 'queue_full',
  message: `${WAITING_MAX} messages wait already`,
}
export const TAKEN_BACK: Refusal = { reason: 'cancelled', message: 'the message was taken back' }
export const NOT_KEPT: Refusal = {
  reason: 'open_run',
  message: 'the run was kept in memory only and cannot go on: abandon it',
}

/** Why what a conversation holds, or has used, stands in the way of a message; null: nothing does. */
export function stateRefusal({ log, settings }: ConversationParts): Refusal | null {
  const { tokensMax, costMax } = settings
  const { usage, cost, openRun } = log.memory
  if (openRun !== null) {
    const { runId } = openRun
    return { reason: 'open_run', message: `run ${runId} has not ended: resume it or abandon it` }
  }
  if (tokensMax !== null && usage.total_tokens >= tokensMax) {
    return { reason: 'budget_used_up', message: `${usage.total_tokens} of ${tokensMax} tokens are used` }
  }
  if (costMax !== null && cost >= costMax) {
    return { reason: 'budget_used_up', message: `${cost} of ${costMax} are spent` }
  }
  return null
}

export function refused({ reason, message }: Refusal): RefusedTurn {
  return { status: 'refused', reason, message }
}
