import type { Checkpoint } from './conversation-source.ts'

/** How a context is put together. */
export type ContextStrategy =
  | 'recent_messages_v1'
  | 'summaries_recent_messages_v1'
  | 'hierarchical_summaries_recent_messages_v1'

/**
 * Why a strategy was chosen. `asked` when it is the one that was asked for; otherwise how many levels of checkpoints
 * there were to choose by.
 */
export type StrategyReason = 'asked' | 'no_checkpoint' | 'one_level' | 'several_levels'

/** A strategy with what it needs to be carried out. */
export interface ChosenStrategy {
  readonly strategy: ContextStrategy
  readonly reason: StrategyReason
  /** Those to refer to, the oldest first. */
  readonly checkpoints: readonly Checkpoint[]
}

const LEVELS_MAX = 3

/**
 * Picks the strategy and its checkpoints from those that lie before the cut. What was asked for and is not possible,
 * for want of checkpoints, falls back to what is: a conversation must not stop because nobody summarised it yet.
 */
export function chooseContextStrategy(
  asked: ContextStrategy | 'auto',
  checkpoints: readonly Checkpoint[],
  cutSeq: number,
): ChosenStrategy {
  if (asked === 'recent_messages_v1') return { strategy: asked, reason: 'asked', checkpoints: [] }
  // Its own place counts too: one that was written behind the cut must not change what is before it.
  const visible = checkpoints.filter(({ seq, toSeq }) => seq <= cutSeq && toSeq <= cutSeq)
  const levels = levelsOf(visible, asked === 'summaries_recent_messages_v1' ? 1 : LEVELS_MAX)
  const { strategy, reason } = strategyFor(levels.length)
  return { strategy, reason: strategy === asked ? 'asked' : reason, checkpoints: levels }
}

/** The newest, then each time the newest that covers at most half as much, the oldest first. */
function levelsOf(checkpoints: readonly Checkpoint[], levelsMax: number): readonly Checkpoint[] {
  const newestFirst = checkpoints.toSorted((a, b) => b.toSeq - a.toSeq || b.seq - a.seq)
  const levels: Checkpoint[] = []
  for (const checkpoint of newestFirst) {
    const [before] = levels
    const isLevel =
      before === undefined ||
      (checkpoint.toSeq <= Math.floor(before.toSeq / 2) && checkpoint.toSeq < before.toSeq)
    if (isLevel && levels.length < levelsMax) levels.unshift(checkpoint)
  }
  return levels
}

function strategyFor(levels: number): Pick<ChosenStrategy, 'strategy' | 'reason'> {
  if (levels === 0) return { strategy: 'recent_messages_v1', reason: 'no_checkpoint' }
  if (levels === 1) return { strategy: 'summaries_recent_messages_v1', reason: 'one_level' }
  return { strategy: 'hierarchical_summaries_recent_messages_v1', reason: 'several_levels' }
}
