import type { InputItem } from '../../protocol/items.ts'
import type { ToolWorkItem } from './tool-work.ts'

/**
 * A conversation to compile from. Its entries are numbered from 0 without a gap, never change, and are only added
 * at the end. `entry` must be quick wherever it points: it is called for what is selected, from the newest back.
 */
export interface ConversationSource {
  readonly threadId: string
  /** How many entries there are. */
  readonly length: number
  entry(seq: number): ConversationEntry
  /** All checkpoints that are among the entries, in any order. */
  checkpoints(): readonly Checkpoint[]
}

/** One thing that a conversation holds. */
export type ConversationEntry = MessageEntry | AnswerEntry | ToolWorkEntry | Checkpoint

/** What somebody other than the model said. */
export interface MessageEntry {
  readonly type: 'message'
  readonly seq: number
  readonly role: 'user' | 'system' | 'developer'
  readonly text: string
  readonly id?: string
  readonly actorId?: string
  readonly origin?: string
}

/** What the model answered in a run that ended. A run may leave several; they are one answer. */
export interface AnswerEntry {
  readonly type: 'answer'
  readonly seq: number
  readonly runId: string
  /** The user's message that the run was for. */
  readonly messageSeq: number
  readonly text: string
}

/** What a run did with tools. */
export interface ToolWorkEntry {
  readonly type: 'tool_work'
  readonly seq: number
  readonly runId: string
  /** The user's message that the run was for. */
  readonly messageSeq: number
  /**
   * In order. Each holds reasoning, what was said, the calls that came of it and their outputs, and is never taken
   * apart.
   */
  readonly groups: readonly (readonly ToolWorkItem[])[]
}

/** A summary that stands for the entries up to `toSeq`. */
export interface Checkpoint {
  readonly type: 'checkpoint'
  readonly seq: number
  /** Names the text by its content; `makeCheckpoint` makes it. */
  readonly artifactId: string
  readonly text: string
  readonly fromSeq: number
  /** Inclusive, and less than `seq`: a summary is written after what it is about. */
  readonly toSeq: number
  /** What a provider made of the same entries. Only the endpoint that made it can read it. */
  readonly compacted?: { readonly endpoint: string; readonly items: readonly InputItem[] }
}
