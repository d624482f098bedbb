import type { CompactOutput } from '../../machines/loop.types.ts'
import type { AnyItem } from '../protocol/items.ts'
import type { Agent } from './agent.ts'

/** Makes a conversation shorter. Settles with a value: a run goes on when its agent cannot, or throws. */
export async function compact(
  agent: Agent,
  items: readonly AnyItem[],
  signal: AbortSignal,
): Promise<CompactOutput> {
  if (agent.compact === null) return { ok: false, message: 'the agent cannot compact' }
  try {
    return await agent.compact(items, signal)
  } catch (error) {
    return { ok: false, message: error instanceof Error ? error.message : 'it could not be made shorter' }
  }
}
