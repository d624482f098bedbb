import type { BundleItem, BundleMessage } from './context-bundle.ts'
import type {
  AnswerEntry,
  Checkpoint,
  ConversationEntry,
  ConversationSource,
  MessageEntry,
  ToolWorkEntry,
} from './conversation-source.ts'
import { isWholeGroup } from './tool-work.ts'

/** Something that a bundle may hold, and the entry that it is from. */
export interface ContextPart {
  readonly seq: number
  /** Which group of the entry it is, counted from 0; null when it is not tool work. */
  readonly group: number | null
  readonly item: BundleItem
}

/** Something that lies between the cut and the oldest selected message and is not in the bundle all the same. */
export interface LeftOut {
  readonly seq: number
  readonly type: ConversationEntry['type']
  readonly group: number | null
  /**
   * `budget`: there were too many tokens. `question_not_selected`: it belongs to a message that is too old.
   * `answered_again`: a later run answered the same message. `group_not_whole`: a provider would refuse it.
   */
  readonly reason: 'budget' | 'question_not_selected' | 'answered_again' | 'group_not_whole'
}

/** Which part of a conversation to look at. */
export interface TurnWindow {
  readonly cutSeq: number
  /** The last entry that a summary covers; -1 when none does. */
  readonly coveredSeq: number
  /** How many messages of the user. */
  readonly recent: number
  readonly toolWork: 'omit' | 'include'
}

/** What the window holds, and what of it is not told. */
export interface SelectedTurns {
  /** The oldest first. Only the first may be without a message of the user: what a summary cut off from its own. */
  readonly turns: readonly (readonly ContextPart[])[]
  readonly leftOut: readonly LeftOut[]
}

/**
 * The newest messages of the user, each with what belongs to it: the system's and the developer's messages around
 * it, the work of its runs, and the answer of the last run that answered it. Looks at no entry behind the cut and at
 * none before the oldest message that it selects, except the prompts that stand directly before that one.
 */
export function selectTurns(source: ConversationSource, window: TurnWindow): SelectedTurns {
  const leftOut: LeftOut[] = []
  const turns = groupByTurn(recentEntries(source, window), window.coveredSeq, leftOut).map((entries) =>
    partsOf(entries, window.toolWork, leftOut),
  )
  return { turns: turns.filter((parts) => parts.length > 0), leftOut }
}

type TurnEntry = Exclude<ConversationEntry, Checkpoint>

function recentEntries(source: ConversationSource, window: TurnWindow): readonly TurnEntry[] {
  const entries: TurnEntry[] = []
  let questions = 0
  for (let seq = window.cutSeq; seq > window.coveredSeq; seq -= 1) {
    const entry = source.entry(seq)
    if (entry.type === 'checkpoint') continue
    const isMessage = entry.type === 'message'
    const isQuestion = isMessage && entry.role === 'user'
    if (questions === window.recent && (isQuestion || !isMessage)) break
    if (isQuestion) questions += 1
    entries.push(entry)
  }
  return entries.toReversed()
}

function groupByTurn(
  entries: readonly TurnEntry[],
  coveredSeq: number,
  leftOut: LeftOut[],
): readonly (readonly TurnEntry[])[] {
  const opening: TurnEntry[] = []
  const turns = new Map<number, TurnEntry[]>()
  let current = opening
  let prompts: TurnEntry[] = []
  for (const entry of entries) {
    if (entry.type === 'message' && entry.role !== 'user') {
      prompts.push(entry)
      continue
    }
    if (entry.type === 'message') {
      // A prompt that stands directly before a message of the user is about that one, not about the last one.
      current = [...prompts, entry]
      turns.set(entry.seq, current)
    } else {
      current.push(...prompts)
      const { messageSeq } = entry
      const turn = turns.get(messageSeq) ?? (messageSeq <= coveredSeq ? opening : null)
      if (turn === null) leftOut.push(left(entry, null, 'question_not_selected'))
      else turn.push(entry)
    }
    prompts = []
  }
  current.push(...prompts)
  return [opening, ...turns.values()]
}

function partsOf(
  entries: readonly TurnEntry[],
  toolWork: TurnWindow['toolWork'],
  leftOut: LeftOut[],
): readonly ContextPart[] {
  const answers = answersOf(entries)
  return entries.flatMap((entry): readonly ContextPart[] => {
    switch (entry.type) {
      case 'message':
        return [{ seq: entry.seq, group: null, item: messageItem(entry) }]
      case 'answer':
        return answerParts(entry, answers.get(entry.messageSeq), leftOut)
      case 'tool_work':
        return toolWork === 'include' ? toolParts(entry, leftOut) : []
    }
  })
}

function messageItem({ role, text, actorId, origin, seq, id }: MessageEntry): BundleMessage {
  return {
    type: 'message',
    role,
    content: text,
    ...(actorId === undefined ? {} : { actor_id: actorId }),
    ...(origin === undefined ? {} : { origin }),
    thread_seq: seq,
    ...(id === undefined ? {} : { thread_event_id: id }),
  }
}

interface Answer {
  readonly last: AnswerEntry
  /** The newest first. */
  readonly texts: string[]
}

/** By message, what the last run that answered it said. */
function answersOf(entries: readonly TurnEntry[]): ReadonlyMap<number, Answer> {
  const answers = new Map<number, Answer>()
  for (const entry of entries.toReversed()) {
    if (entry.type !== 'answer') continue
    const answer = answers.get(entry.messageSeq) ?? { last: entry, texts: [] }
    answers.set(entry.messageSeq, answer)
    if (entry.runId === answer.last.runId) answer.texts.push(entry.text)
  }
  return answers
}

/** The whole answer, at the place of its last entry. */
function answerParts(
  entry: AnswerEntry,
  answer: Answer | undefined,
  leftOut: LeftOut[],
): readonly ContextPart[] {
  if (answer?.last.runId !== entry.runId) {
    leftOut.push(left(entry, null, 'answered_again'))
    return []
  }
  const content = answer.last === entry ? answer.texts.toReversed().join('') : ''
  if (content === '') return []
  const item = { type: 'message', role: 'assistant', content, thread_seq: entry.seq } as const
  return [{ seq: entry.seq, group: null, item }]
}

function toolParts(entry: ToolWorkEntry, leftOut: LeftOut[]): readonly ContextPart[] {
  return entry.groups.flatMap((items, group) => {
    if (isWholeGroup(items)) {
      return [{ seq: entry.seq, group, item: { type: 'tool_work', thread_seq: entry.seq, items } as const }]
    }
    leftOut.push(left(entry, group, 'group_not_whole'))
    return []
  })
}

function left(entry: TurnEntry, group: number | null, reason: LeftOut['reason']): LeftOut {
  return { seq: entry.seq, type: entry.type, group, reason }
}
