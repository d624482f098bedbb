import type { ConversationEntry } from './conversation-source.ts'
import type { ContextPart, LeftOut } from './select-turns.ts'

/** A part, and how many tokens it will take. */
export interface CountedPart extends ContextPart {
  readonly type: ConversationEntry['type']
  readonly tokens: number
}

/** What is left of a context once it is within its budget. */
export interface FittedContext {
  readonly parts: readonly CountedPart[]
  /** What the parts take; more than the budget when the newest message of the user alone does. */
  readonly tokens: number
  readonly leftOut: readonly LeftOut[]
}

/**
 * Leaves out what the older turns did with tools, then the older turns, each the oldest first, until the rest is within
 * the budget: what was said is worth more than how it was found out. When only the newest turn is left: its groups of
 * tool work, then the summaries, then its other parts. The newest message of the user always stays. Parts are never cut.
 */
export function fitBudget(
  summaries: readonly CountedPart[],
  turns: readonly (readonly CountedPart[])[],
  budgetTokens: number | null,
): FittedContext {
  const parts = [...summaries, ...turns.flat()]
  let tokens = parts.reduce((sum, part) => sum + part.tokens, 0)
  const dropped = new Set<CountedPart>()
  for (const unit of unitsToDrop(summaries, turns)) {
    if (budgetTokens === null || tokens <= budgetTokens) break
    for (const part of unit) {
      dropped.add(part)
      tokens -= part.tokens
    }
  }
  return {
    parts: parts.filter((part) => !dropped.has(part)),
    tokens,
    leftOut: [...dropped].map(({ seq, type, group }) => ({ seq, type, group, reason: 'budget' })),
  }
}

function unitsToDrop(
  summaries: readonly CountedPart[],
  turns: readonly (readonly CountedPart[])[],
): readonly (readonly CountedPart[])[] {
  const newest = turns.at(-1) ?? []
  const older = turns.slice(0, -1)
  const others = newest.filter(({ item }) => item.type === 'message' && item.role !== 'user')
  return [
    ...older.flatMap(toolWorkOf).map((part) => [part]),
    ...older.map((parts) => parts.filter((part) => !isToolWork(part))),
    ...[...toolWorkOf(newest), ...summaries, ...others].map((part) => [part]),
  ]
}

function toolWorkOf(parts: readonly CountedPart[]): readonly CountedPart[] {
  return parts.filter(isToolWork)
}

function isToolWork({ item }: CountedPart): boolean {
  return item.type === 'tool_work'
}
