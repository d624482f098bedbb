import type { StoredRun } from '../journal/run-store.ts'
import { oneLine } from './safe-text.ts'

/** Who has a log open, for a table. */
export function ownerName(owner: StoredRun['owner']): string {
  return owner === null ? '-' : `process ${owner.pid} on ${oneLine(owner.host)}`
}
