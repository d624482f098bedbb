import { isDeepStrictEqual } from 'node:util'

import type { Conversation } from '../../src/conversation/conversation-api.ts'
import { ConversationMemory } from '../../src/conversation/conversation-memory.ts'
import type { Frame } from '../../src/frames/generated/frame.ts'
import type { ConversationEntry } from '../../src/history/context-bundle/conversation-source.ts'
import { openStore, type SqliteStore } from '../../src/journal/open-store.ts'
import { replay } from '../../src/replay-run.ts'
import type { ReadContext } from './random-provider.ts'

export interface ToldBefore {
  readonly entries: readonly ConversationEntry[]
  /** The mark of the message that was asked about. */
  readonly mark: string
  /** Marks of what was said before. */
  readonly said: readonly string[]
}

// As many of the newest calls as are told in full by default.
const CALLS_KEPT = 6

/** What a model that was asked has not read, though no summary covers it. */
export function checkToldAll(
  { text, isShortened }: ReadContext,
  { entries, mark: asked, said }: ToldBefore,
): readonly string[] {
  const now = entryOf(entries, asked)?.seq ?? -1
  const before = entries.slice(0, now)
  const covered = before.reduce((seq, one) => Math.max(seq, one.type === 'checkpoint' ? one.toSeq : -1), -1)
  const marks = [
    ...said,
    ...callMarks(before.slice(covered + 1))
      .slice(-CALLS_KEPT)
      .flat(),
  ]
  // Where the provider goes on from a run that has made its own conversation shorter, only that run knows by how much.
  const untold = isShortened
    ? []
    : marks.filter((mark) => !text.includes(mark) && (entryOf(before, mark)?.seq ?? now) > covered)
  return [asked, ...untold].filter((mark) => !text.includes(mark)).map((mark) => `${mark} was not told`)
}

function entryOf(entries: readonly ConversationEntry[], mark: string): ConversationEntry | undefined {
  return entries.find((one) => 'text' in one && one.type !== 'checkpoint' && one.text.includes(mark))
}

/** For each call, the marks in its output. */
function callMarks(entries: readonly ConversationEntry[]): readonly (readonly string[])[] {
  return entries
    .flatMap((entry) => (entry.type === 'tool_work' ? entry.groups.flat() : []))
    .filter((item) => item.type === 'function_call_output')
    .map((item) => JSON.stringify(item.output).match(/\[t\d+\]/gu) ?? [])
}

type Known = Pick<Conversation, 'entries' | 'usage' | 'state'>

/** How the log of a conversation differs from what it was thought to hold before it was closed, and after. */
export function checkFold(path: string, before: Known, after: Conversation): readonly string[] {
  const folded = fold(path)
  const { messages, runs, cost: _, ...usage } = before.usage
  const faults: string[] = []
  if (!isDeepStrictEqual([...folded.entries], [...before.entries])) faults.push('the log has other entries')
  if (!isDeepStrictEqual([...after.entries], [...before.entries]))
    faults.push('other entries after a restart')
  if (!isDeepStrictEqual(folded.usage, usage)) faults.push('the log has another usage')
  if (!isDeepStrictEqual(after.usage, before.usage)) faults.push('another usage after a restart')
  if (folded.messages !== messages || folded.runs !== runs) faults.push('the log has other numbers')
  if (after.state !== before.state) faults.push(`${before.state} became ${after.state} with a restart`)
  return faults
}

function fold(path: string): ConversationMemory {
  return withStore(path, (store) => {
    const memory = new ConversationMemory()
    for (const frame of store.read('talk')) memory.apply(frame)
    return memory
  })
}

/**
 * How the usage of a conversation differs from what its runs add up to, those in which a model was asked for a summary
 * included, and the compactions of the provider.
 */
export function checkUsage(path: string, { usage }: Conversation): readonly string[] {
  const spent = withStore(path, (store) => {
    // What a run within a run used is in what that one used.
    const runIds = store.list().flatMap(({ runId, kind }) => (kind === 'run' ? [runId] : []))
    const ends = runIds
      .filter((runId) => !runId.includes('.compact.'))
      .flatMap((runId) => [...store.read(runId)].filter(({ type }) => type === 'run_ended'))
    return [...store.read('talk'), ...ends].reduce((tokens, frame) => tokens + tokensIn(frame), 0)
  })
  return spent === usage.total_tokens ? [] : [`${spent} tokens were used, ${usage.total_tokens} are counted`]
}

function tokensIn(frame: Frame): number {
  switch (frame.type) {
    case 'run_ended':
      return Number(frame.usage?.['total_tokens'] ?? 0)
    // Nothing else says what a run used that never ended.
    case 'conversation_run_ended':
      return frame.state === 'abandoned' ? Number(frame.usage?.['total_tokens'] ?? 0) : 0
    // In the log of a conversation: what the provider said to a compaction.
    case 'provider_event':
      return providerTokens(frame.raw ?? '{}')
    default:
      return 0
  }
}

function providerTokens(raw: string): number {
  const { usage } = JSON.parse(raw) as { usage?: { total_tokens: number } }
  return usage?.total_tokens ?? 0
}

function withStore<T>(path: string, work: (store: SqliteStore) => T): T {
  const store = openStore(path)
  try {
    return work(store)
  } finally {
    store.close()
  }
}

/** Which of the runs do not replay identically from the store, of every so many. */
export function checkReplays(path: string, runIds: readonly string[], every: number): readonly string[] {
  return withStore(path, (store) =>
    runIds.flatMap((runId, at) => {
      if (at % every !== 0) return []
      const result = replay(store.read(runId))
      return result.ok ? [] : [`${runId} replays differently: ${JSON.stringify(result.divergence)}`]
    }),
  )
}
