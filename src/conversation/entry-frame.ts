import { LoopchartError } from '../errors.ts'
import type { Checkpoint, ConversationEntry } from '../history/context-bundle/conversation-source.ts'
import type { ToolWorkItem } from '../history/context-bundle/tool-work.ts'
import type { InputPart } from '../loop/run-input.ts'
import type { InputItem } from '../protocol/items.ts'
import { isJsonObject, type Json, type JsonObject } from '../protocol/json.ts'

/** An entry before it has its place. */
export type NewEntry = WithoutSeq<ConversationEntry>

type WithoutSeq<T> = T extends unknown ? Omit<T, 'seq'> : never

/** An entry as a log has it. `parts` are those of a message that is more than text. */
export function entryJson(entry: NewEntry, parts: readonly InputPart[] | null = null): JsonObject {
  switch (entry.type) {
    case 'message':
      return {
        type: entry.type,
        role: entry.role,
        text: entry.text,
        ...(entry.id !== undefined && { id: entry.id }),
        ...(entry.actorId !== undefined && { actor_id: entry.actorId }),
        ...(entry.origin !== undefined && { origin: entry.origin }),
        ...(parts !== null && { parts: parts.map((part) => ({ ...part })) }),
      }
    case 'answer':
      return { type: entry.type, run_id: entry.runId, message_seq: entry.messageSeq, text: entry.text }
    case 'tool_work':
      return {
        type: entry.type,
        run_id: entry.runId,
        message_seq: entry.messageSeq,
        groups: copyOf(entry.groups),
      }
    case 'checkpoint':
      return {
        type: entry.type,
        artifact_id: entry.artifactId,
        text: entry.text,
        from_seq: entry.fromSeq,
        to_seq: entry.toSeq,
        ...(entry.compacted !== undefined && {
          compacted: { endpoint: entry.compacted.endpoint, items: copyOf(entry.compacted.items) },
        }),
      }
  }
}

// Interfaces of the protocol have no index signature, which JSON objects have.
function copyOf(value: unknown): readonly Json[] {
  const copy: readonly Json[] = JSON.parse(JSON.stringify(value))
  return copy
}

/** Reads an entry of a log. Throws `log_corrupt` when it is none. */
export function parseEntry(seq: number, json: JsonObject): ConversationEntry {
  const { type, text } = json
  if (typeof text === 'string' || type === 'tool_work') {
    const said = typeof text === 'string' ? text : ''
    const entry = type === 'message' ? messageOf(seq, json, said) : otherEntry(seq, json, said)
    if (entry !== null) return entry
  }
  throw new LoopchartError('log_corrupt', `entry ${seq} of the conversation cannot be read`)
}

function messageOf(seq: number, json: JsonObject, text: string): ConversationEntry | null {
  const { role, id, actor_id: actorId, origin } = json
  if (role !== 'user' && role !== 'system' && role !== 'developer') return null
  return {
    type: 'message',
    seq,
    role,
    text,
    ...(typeof id === 'string' && { id }),
    ...(typeof actorId === 'string' && { actorId }),
    ...(typeof origin === 'string' && { origin }),
  }
}

function otherEntry(seq: number, json: JsonObject, text: string): ConversationEntry | null {
  const { type, run_id: runId, message_seq: messageSeq, groups } = json
  if (type === 'checkpoint') return checkpointOf(seq, json, text)
  if (typeof runId !== 'string' || typeof messageSeq !== 'number') return null
  if (type === 'answer') return { type, seq, runId, messageSeq, text }
  if (type !== 'tool_work' || !isGroups(groups)) return null
  return { type, seq, runId, messageSeq, groups }
}

function checkpointOf(seq: number, json: JsonObject, text: string): Checkpoint | null {
  const { artifact_id: artifactId, from_seq: fromSeq, to_seq: toSeq, compacted } = json
  if (typeof artifactId !== 'string' || typeof fromSeq !== 'number' || typeof toSeq !== 'number') return null
  const head = { type: 'checkpoint', seq, artifactId, text, fromSeq, toSeq } as const
  if (!isJsonObject(compacted)) return head
  const { endpoint, items } = compacted
  return typeof endpoint === 'string' && isItems(items) ? { ...head, compacted: { endpoint, items } } : null
}

// Whether each group is whole is asked when a context is compiled: one that is not is left out, with a reason.
function isGroups(value: unknown): value is readonly (readonly ToolWorkItem[])[] {
  return Array.isArray(value) && value.every((group) => isItems(group))
}

function isItems(value: unknown): value is readonly InputItem[] & readonly ToolWorkItem[] {
  return Array.isArray(value) && value.every((item) => isJsonObject(item) && typeof item['type'] === 'string')
}

/** The parts of a message that is more than text; null for one that is not. */
export function entryParts({ parts }: JsonObject): readonly InputPart[] | null {
  return isParts(parts) ? parts : null
}

// Written by `entryJson`, and checked again by the run that they go into.
function isParts(value: unknown): value is readonly (InputPart & JsonObject)[] {
  return Array.isArray(value) && value.every(isJsonObject)
}
