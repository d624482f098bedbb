import type { JsonObject } from '../../../protocol/json.ts'
import type { Attempt } from './attempts.ts'
import type { CallRecord } from './call-records.ts'
import { fieldsOf, numberIn, textIn } from './json-fields.ts'
import { noticeOf, type Notice } from './notice-of.ts'

/** One thing in a conversation, in the order in which a reader sees them. */
export type Block = { readonly seq: number; readonly turn: number } & (
  | { readonly kind: 'input'; readonly input: JsonObject[string] }
  | { readonly kind: 'attempt'; readonly attempt: Attempt }
  | { readonly kind: 'call'; readonly call: CallRecord }
  | { readonly kind: 'command'; readonly command: Command }
  | { readonly kind: 'notice'; readonly notice: Notice }
  | { readonly kind: 'end'; readonly state: string; readonly reason: string; readonly unanswered: number }
  | { readonly kind: 'entry'; readonly entrySeq: number; readonly entry: JsonObject }
  | { readonly kind: 'child'; readonly child: ChildRun }
)

/** What somebody asked of the run, and what the answer was. */
export interface Command {
  readonly type: string
  readonly callId: string | null
  readonly said: string
  readonly answer: string
  readonly refusal: string | null
}

/** A run for a message of a conversation. */
export interface ChildRun {
  readonly runId: string
  readonly end: {
    readonly seq: number
    readonly state: string
    readonly reason: string
    readonly cost: number | null
  } | null
}

interface OpenChild extends ChildRun {
  end: ChildRun['end']
}

/** The conversation of a run, or the log of a conversation, as one list. */
export class Blocks {
  readonly #all: Block[] = []
  readonly #children = new Map<string, OpenChild>()

  get all(): readonly Block[] {
    return this.#all
  }

  /** A request that began, or a call that was made. */
  push(block: Block): void {
    this.#all.push(block)
  }

  /** Takes a frame in. */
  add(seq: number, type: string, fields: JsonObject, turn: number): void {
    const head = { seq, turn }
    switch (type) {
      case 'run_started':
        this.#all.push({ ...head, kind: 'input', input: fields['input'] })
        return
      case 'command_received':
        this.#all.push({ ...head, kind: 'command', command: commandOf(fields) })
        return
      case 'run_ended': {
        const unanswered = fields['unanswered_calls']
        this.#all.push({
          ...head,
          kind: 'end',
          state: textIn(fields, 'state') ?? 'unknown',
          reason: textIn(fields, 'reason') ?? '',
          unanswered: Array.isArray(unanswered) ? unanswered.length : 0,
        })
        return
      }
      case 'conversation_entry':
        this.#all.push({
          ...head,
          kind: 'entry',
          entrySeq: numberIn(fields, 'entry_seq') ?? 0,
          entry: fieldsOf(fields['entry']),
        })
        return
      case 'conversation_run_started':
      case 'conversation_run_ended':
        this.#child(head, type, fields)
        return
      default: {
        const notice = noticeOf(type, fields)
        if (notice !== null) this.#all.push({ ...head, kind: 'notice', notice })
      }
    }
  }

  #child(head: { seq: number; turn: number }, type: string, fields: JsonObject): void {
    const runId = textIn(fields, 'child_run_id') ?? ''
    let child = this.#children.get(runId)
    if (child === undefined || type === 'conversation_run_started') {
      child = { runId, end: null }
      this.#children.set(runId, child)
      this.#all.push({ ...head, kind: 'child', child })
    }
    if (type === 'conversation_run_started') return
    child.end ??= {
      seq: head.seq,
      state: textIn(fields, 'state') ?? 'unknown',
      reason: textIn(fields, 'reason') ?? '',
      cost: numberIn(fields, 'cost'),
    }
  }
}

function commandOf(fields: JsonObject): Command {
  const command = fieldsOf(fields['command'])
  const answer = fieldsOf(fields['answer'])
  return {
    type: textIn(command, 'type') ?? 'unknown',
    callId: textIn(command, 'callId'),
    said: textIn(command, 'text') ?? textIn(command, 'reason') ?? textIn(command, 'as') ?? '',
    answer: textIn(answer, 'answer') ?? 'unknown',
    refusal: textIn(answer, 'reason'),
  }
}
