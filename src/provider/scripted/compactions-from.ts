import type { Script, ScriptCompaction } from './script.ts'

/** How each compaction goes, by its number from 1: as said for all, or as the list has it and well after that. */
export function compactionsFrom(compact: Script['compact']): (number: number) => ScriptCompaction {
  if (compact === undefined) return () => ({})
  return (number) => (isList(compact) ? (compact[number - 1] ?? {}) : compact)
}

function isList(compact: NonNullable<Script['compact']>): compact is readonly ScriptCompaction[] {
  return Array.isArray(compact)
}
