import type { ToolHistoryConfig } from './read-tool-history-config.ts'

/**
 * Where, among so many calls, those begin that stay as they are; all before it are old. `tokensAt` is asked only when
 * the trigger needs tokens.
 */
export function recentFrom(
  count: number,
  { recentCallsToKeep: keep, truncationThreshold: threshold, trigger }: ToolHistoryConfig,
  tokensAt: (index: number) => number,
): number {
  // Not slice(-keep): for 0 that is everything.
  const byCount = Math.max(0, count - keep)
  switch (trigger) {
    case 'count':
      return byCount
    case 'threshold':
      return byCount > 0 && tokensFrom(0, count, tokensAt) > threshold ? byCount : 0
    case 'either':
      return Math.max(byCount, newestWithin(byCount, count, threshold, tokensAt))
  }
}

function tokensFrom(from: number, end: number, tokensAt: (index: number) => number): number {
  let tokens = 0
  for (let index = from; index < end; index += 1) tokens += tokensAt(index)
  return tokens
}

/** Where the newest calls begin that are within the threshold together. */
function newestWithin(
  from: number,
  end: number,
  threshold: number,
  tokensAt: (index: number) => number,
): number {
  let tokens = 0
  for (let index = end - 1; index >= from; index -= 1) {
    tokens += tokensAt(index)
    // The newest one stays however long it is: it is what the model is working on.
    if (tokens > threshold) return Math.min(index + 1, end - 1)
  }
  return from
}
