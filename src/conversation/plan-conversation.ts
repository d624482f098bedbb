import type { ConversationEntry } from '../history/context-bundle/conversation-source.ts'
import { summaryText } from '../history/context-bundle/summary-text.ts'
import type { AnyItem } from '../protocol/items.ts'
import { newestCheckpoint, type ContextSize } from './context-size.ts'
import type { ConversationMemory } from './conversation-memory.ts'

/** Which turns give way to a summary. */
export interface ConversationPlan {
  /** The last entry that the summary stands for. */
  readonly toSeq: number
  /** What it stands for, the summary before it first. */
  readonly old: readonly AnyItem[]
  readonly tokensBefore: number
  /** Of the turns that stay. */
  readonly keptTokens: number
}

/** How much may stay beside a summary. */
export interface KeptRoom {
  readonly keepTokens: number
  readonly keepTurns: number
}

/**
 * Keeps the newest whole turns that have room, and gives up at least the oldest. The last one is given up only when it
 * has no room alone: what it did with tools may be more than a run can ever be told. Null when nothing can be given up.
 */
export function planConversation(
  memory: ConversationMemory,
  size: ContextSize,
  { keepTokens, keepTurns }: KeptRoom,
): ConversationPlan | null {
  const covered = newestCheckpoint(memory)?.toSeq ?? -1
  const starts = turnStarts(memory, covered)
  const last = starts.at(-1)
  if (last === undefined) return null
  const tokensBefore = size.total(memory)
  let keptTokens = tokensFrom(memory, size, last, memory.length)
  let kept = starts.length - 1
  if (keptTokens > keepTokens || keepTurns === 0) [kept, keptTokens] = [starts.length, 0]
  if (kept === 0) return null
  // A conversation that would fit anyway is made shorter all the same when somebody asks for it.
  const roomTokens = Math.min(keepTokens, Math.floor(tokensBefore / 2))
  while (kept > 1 && kept < starts.length && starts.length - kept < keepTurns) {
    const more = tokensFrom(memory, size, starts[kept - 1] ?? 0, starts[kept] ?? 0)
    if (keptTokens + more > roomTokens) break
    keptTokens += more
    kept -= 1
  }
  const toSeq = (starts[kept] ?? memory.length) - 1
  return { toSeq, old: oldItems(memory, covered, toSeq), tokensBefore, keptTokens }
}

/** Where each turn begins: at the message of the user, or at the prompts that stand directly before it. */
function turnStarts(memory: ConversationMemory, covered: number): readonly number[] {
  const starts: number[] = []
  let prompts: number | null = null
  for (let seq = covered + 1; seq < memory.length; seq += 1) {
    const entry = memory.entry(seq)
    if (entry.type === 'message' && entry.role === 'user') starts.push(prompts ?? seq)
    const isPrompt = entry.type === 'message' && entry.role !== 'user'
    prompts = isPrompt ? (prompts ?? seq) : null
  }
  return starts
}

function tokensFrom(memory: ConversationMemory, size: ContextSize, from: number, to: number): number {
  let tokens = 0
  for (let seq = from; seq < to; seq += 1) {
    const entry = memory.entry(seq)
    if (entry.type !== 'checkpoint') tokens += size.of(entry)
  }
  return tokens
}

function oldItems(memory: ConversationMemory, covered: number, toSeq: number): readonly AnyItem[] {
  const before = newestCheckpoint(memory)
  const items: AnyItem[] =
    before === null ? [] : [message('system', summaryText({ note: null }, before.text))]
  for (let seq = covered + 1; seq <= toSeq; seq += 1) items.push(...entryItems(memory.entry(seq)))
  return items
}

/** An entry as items of a request. */
function entryItems(entry: ConversationEntry): readonly AnyItem[] {
  switch (entry.type) {
    case 'message':
      return [message(entry.role, entry.text)]
    case 'answer':
      return [message('assistant', entry.text)]
    case 'tool_work': {
      const items: readonly AnyItem[] = JSON.parse(JSON.stringify(entry.groups.flat()))
      return items
    }
    case 'checkpoint':
      return []
  }
}

function message(role: string, text: string): AnyItem {
  return { type: 'message', role, content: text }
}
