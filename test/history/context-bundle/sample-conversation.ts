import type {
  Checkpoint,
  ConversationEntry,
  ConversationSource,
} from '../../../src/history/context-bundle/conversation-source.ts'
import { makeCheckpoint } from '../../../src/history/context-bundle/make-checkpoint.ts'
import type { ToolWorkItem } from '../../../src/history/context-bundle/tool-work.ts'

/** Makes the entry that stands at a place. */
export type EntryAt = (seq: number) => ConversationEntry

export interface SampleConversation extends ConversationSource {
  /** Which entries were asked for, in order. */
  readonly reads: readonly number[]
}

export const PROVENANCE = { run_session_id: 'run_1', actor_id: 'ada', origin: 'test' } as const

/** A conversation of these entries, numbered from 0. */
export function conversation(...makers: readonly EntryAt[]): SampleConversation {
  return sourceOf(makers.map((make, seq) => make(seq)))
}

export function sourceOf(entries: readonly ConversationEntry[]): SampleConversation {
  const reads: number[] = []
  return {
    threadId: 'thread_1',
    length: entries.length,
    reads,
    entry(seq) {
      reads.push(seq)
      const entry = entries[seq]
      if (entry === undefined) throw new Error(`no entry ${seq}`)
      return entry
    },
    checkpoints: () => entries.filter((entry): entry is Checkpoint => entry.type === 'checkpoint'),
  }
}

export function user(text: string): EntryAt {
  return (seq) => ({
    type: 'message',
    seq,
    role: 'user',
    text,
    id: `msg_${seq}`,
    actorId: 'ada',
    origin: 'cli',
  })
}

export function system(text: string): EntryAt {
  return (seq) => ({ type: 'message', seq, role: 'system', text })
}

export function developer(text: string): EntryAt {
  return (seq) => ({ type: 'message', seq, role: 'developer', text })
}

export function answer(messageSeq: number, text: string, runId = `run_${messageSeq}`): EntryAt {
  return (seq) => ({ type: 'answer', seq, runId, messageSeq, text })
}

export function work(messageSeq: number, ...groups: readonly (readonly ToolWorkItem[])[]): EntryAt {
  return (seq) => ({ type: 'tool_work', seq, runId: `run_${messageSeq}`, messageSeq, groups })
}

export function summary(toSeq: number, text: string): EntryAt {
  return (seq) => makeCheckpoint({ seq, fromSeq: 0, toSeq, text })
}

/** A summary that an endpoint has also compacted in its own way. */
export function compaction(toSeq: number, text: string, endpoint: string): EntryAt {
  const items = [
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'q' }] },
    { type: 'compaction', id: `cmp_${toSeq}`, encrypted_content: `sealed ${text}` },
  ] as const
  return (seq) => makeCheckpoint({ seq, fromSeq: 0, toSeq, text, compacted: { endpoint, items } })
}

/** Reasoning, a call and its output. */
export function group(callId: string, output = 'done'): readonly ToolWorkItem[] {
  return [
    { type: 'reasoning', id: `rs_${callId}`, summary: [], encrypted_content: 'abc' },
    call(callId),
    outputOf(callId, output),
  ]
}

export function call(callId: string, args = '{"path":"a"}'): ToolWorkItem {
  return { type: 'function_call', call_id: callId, name: 'read', arguments: args }
}

/** What the model said beside its calls. */
export function said(text: string): ToolWorkItem {
  return {
    type: 'message',
    id: 'msg_1',
    role: 'assistant',
    status: 'completed',
    phase: 'commentary',
    content: [{ type: 'output_text', text, annotations: [] }],
  }
}

export function outputOf(callId: string, output = 'done'): ToolWorkItem {
  return { type: 'function_call_output', call_id: callId, output }
}
