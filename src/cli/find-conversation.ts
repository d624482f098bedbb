import { LoopchartError } from '../errors.ts'
import type { RunStore, StoredRun } from '../journal/run-store.ts'
import { listingCommand, type StoreFlags } from './store-option.ts'

/** The conversation of this very id, null when it would be a new one. Throws `usage` for an id that cannot be one. */
export function findConversation(store: RunStore, id: string, flags: StoreFlags): StoredRun | null {
  if (id.trim() === '') throw new LoopchartError('usage', '--conversation: an id must not be empty')
  const found = store.list().find(({ runId }) => runId === id) ?? null
  if (found?.kind === 'run') {
    throw new LoopchartError(
      'usage',
      `--conversation: ${id} is a run and not a conversation; ${listingCommand(flags, 'conversations')} lists those`,
    )
  }
  return found
}
