import type { CompactInput, TokenUsage } from '../../machines/loop.types.ts'
import type { Children } from './children.ts'
import type { EffectIo } from './effect.ts'

/** What a way of making a conversation shorter goes by, besides the agent and the plan. */
export interface CompactWork {
  readonly input: CompactInput
  readonly io: EffectIo
  /** Starts runs within the run; null: there can be none. */
  readonly children: Children | null
}

/** What it came to: the shorter conversation, or null and why there is none. */
export interface CompactAttempt {
  readonly items: CompactInput['items'] | null
  /** What it used, also when nothing came of it. */
  readonly usage: TokenUsage | null
  readonly detail: string | null
}
