import type { Checkpoint, ConversationEntry } from '../history/context-bundle/conversation-source.ts'
import type { TokenCounter } from '../history/tool-history/estimate-tokens.ts'
import type { ConversationMemory } from './conversation-memory.ts'

/** How many tokens a conversation would take to tell. Each entry is counted once. */
export class ContextSize {
  readonly #count: TokenCounter
  readonly #known = new WeakMap<ConversationEntry, number>()

  constructor(countTokens: TokenCounter) {
    this.#count = countTokens
  }

  of(entry: ConversationEntry): number {
    const known = this.#known.get(entry) ?? this.#count(textOf(entry))
    this.#known.set(entry, known)
    return known
  }

  /** Of the newest summary and all that came after what it covers. */
  total(memory: ConversationMemory): number {
    const newest = newestCheckpoint(memory)
    let tokens = newest === null ? 0 : this.of(newest)
    for (let seq = (newest?.toSeq ?? -1) + 1; seq < memory.length; seq += 1) {
      const entry = memory.entry(seq)
      if (entry.type !== 'checkpoint') tokens += this.of(entry)
    }
    return tokens
  }
}

/** The checkpoint that covers most; of several, the latest. */
export function newestCheckpoint(memory: ConversationMemory): Checkpoint | null {
  let newest: Checkpoint | null = null
  for (const checkpoint of memory.checkpoints()) {
    if (newest === null || checkpoint.toSeq >= newest.toSeq) newest = checkpoint
  }
  return newest
}

function textOf(entry: ConversationEntry): string {
  switch (entry.type) {
    case 'tool_work':
      return JSON.stringify(entry.groups)
    case 'checkpoint':
      return entry.compacted === undefined ? entry.text : JSON.stringify(entry.compacted.items)
    default:
      return entry.text
  }
}
