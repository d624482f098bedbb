import { createHash } from 'node:crypto'

import type { AnyItem } from '../protocol/items.ts'
import { CALL_ID_LENGTH_MAX, isWithin, quoted, type Warn } from './input-parts.ts'

/** An item on its way into a request. */
export interface PairedItem {
  readonly item: AnyItem
  /** The call id to send; empty for items that have none. */
  readonly callId: string
  /** Its place among the items of the run; null when it is none of them. */
  readonly at: number | null
}

/**
 * A whole conversation in which every call has exactly one output after it, as providers demand. A call that came
 * twice in one response goes once, with its first output; an output without a call is left out; a call that nobody
 * answered is answered, behind the other outputs of its response, with an outcome that is unknown. Ids that were
 * used again in a later response are told apart. What was sent once is sent the same when more is appended.
 */
export function pairCalls(
  items: readonly AnyItem[],
  warn: Warn,
  ids: CallIds = new CallIds(),
): readonly PairedItem[] {
  // As a first request: there is nothing to pair.
  if (!items.some(isCallOrOutput)) return items.map((item, at) => ({ item, callId: '', at }))
  const groups = groupsOf(items)
  const { answers, callIds } = matchAnswers(items, groups, ids)
  const paired: PairedItem[] = []
  let unanswered: AnyItem[] = []
  let group = 0
  const answerRest = (): void => {
    paired.push(...unanswered.map((item) => ({ item, callId: callIdOf(item), at: null })))
    unanswered = []
  }
  for (const [index, item] of items.entries()) {
    const at = groups[index] ?? 0
    if (at !== group) answerRest()
    group = at
    const callId = callIds.get(index)
    if (!isCallOrOutput(item)) {
      paired.push({ item, callId: '', at: index })
    } else if (callId === undefined) {
      warn(`a ${item.type} with the call_id ${quoted(callIdOf(item))} has no partner and was left out`)
    } else {
      paired.push({ item, callId, at: index })
      if (answers.get(index) === null) unanswered.push(unknownOutput(item, callId))
    }
  }
  answerRest()
  return paired
}

/** The ids under which the calls of a conversation are sent, from its first call on. */
export class CallIds {
  readonly #before: CallIds | null
  #uses: Map<string, number> | null = null
  // Only ids that were made here can be those of others: as long as there are none, nothing need be compared.
  #made: Set<string> | null = null

  constructor(before: CallIds | null = null) {
    this.#before = before
  }

  /** The id to send for the next call of an id. */
  take(callId: string): string {
    let use = this.#usesOf(callId) ?? 0
    let sent = callIdToSend(callId, use)
    if (sent !== callId || this.#hasMade) {
      // A conversation brings calls of earlier runs that were renamed already.
      while (this.#isMade(sent) || this.#usesOf(sent) !== undefined) sent = callIdToSend(callId, (use += 1))
      if (sent !== callId) {
        this.#made ??= new Set()
        this.#made.add(sent)
      }
    }
    this.#uses ??= new Map()
    this.#uses.set(callId, use + 1)
    return sent
  }

  get #hasMade(): boolean {
    return this.#made !== null || (this.#before !== null && this.#before.#hasMade)
  }

  #isMade(id: string): boolean {
    return this.#made?.has(id) === true || (this.#before !== null && this.#before.#isMade(id))
  }

  #usesOf(id: string): number | undefined {
    return this.#uses?.get(id) ?? (this.#before === null ? undefined : this.#before.#usesOf(id))
  }
}

/**
 * Where a conversation can be cut so that nothing that is appended changes what was sent of the part before: between two
 * responses, with every call before answered before. The ends of the parts, from the first on; what is left behind the last is
 * open.
 */
export function closedParts(items: readonly AnyItem[], from: number): readonly number[] {
  const ends: number[] = []
  // A response ends where another begins.
  if (items.length - from < 2) return ends
  const open = new Set<string>()
  let group = 0
  const rest = items.slice(from)
  for (const [index, at] of groupsOf(rest).entries()) {
    const item = rest[index]
    if (item === undefined) break
    if (at !== group && index > 0 && open.size === 0) ends.push(from + index)
    group = at
    if (item.type === 'function_call') open.add(callIdOf(item))
    else if (item.type === 'function_call_output') open.delete(callIdOf(item))
  }
  return ends
}

/** Outputs for calls that the provider already has: the first one for each call id, under that id. */
export function firstOutputs(items: readonly AnyItem[], warn: Warn): readonly PairedItem[] {
  const answered = new Set<string>()
  return items.flatMap((item, at) => {
    if (!isCallOrOutput(item)) return [{ item, callId: '', at }]
    const callId = callIdOf(item)
    if (item.type === 'function_call_output' && answered.has(callId)) {
      warn(`a second output for the call_id ${quoted(callId)} was left out`)
      return []
    }
    if (item.type === 'function_call_output') answered.add(callId)
    if (!isSendable(callId)) warn(`the call_id ${quoted(callId)} cannot be sent and was replaced`)
    return [{ item, callId: callIdToSend(callId, 0), at }]
  })
}

/** Numbers the items by response: what a model put out, and the outputs that answer it, have one number. */
function groupsOf(items: readonly AnyItem[]): readonly number[] {
  let group = 0
  let isAnswered = false
  return items.map((item) => {
    const isOutput = item.type === 'function_call_output'
    if (!isOutput && (isAnswered || isFromCaller(item))) group += 1
    isAnswered = isOutput
    return group
  })
}

function isFromCaller({ type, role }: AnyItem): boolean {
  return type === 'message' && role !== 'assistant'
}

interface Matches {
  /** By the place of each call that goes: the place of its output, or null. */
  readonly answers: ReadonlyMap<number, number | null>
  /** By the place of each call and output that goes: the id to send. */
  readonly callIds: ReadonlyMap<number, string>
}

function matchAnswers(items: readonly AnyItem[], groups: readonly number[], ids: CallIds): Matches {
  const answers = new Map<number, number | null>()
  const callIds = new Map<number, string>()
  const open = new Map<string, { readonly index: number; readonly group: number; readonly sent: string }>()
  for (const [index, item] of items.entries()) {
    const callId = callIdOf(item)
    const call = open.get(callId)
    const group = groups[index] ?? 0
    if (item.type === 'function_call' && call?.group !== group) {
      const sent = ids.take(callId)
      open.set(callId, { index, group, sent })
      answers.set(index, null)
      callIds.set(index, sent)
    } else if (item.type === 'function_call_output' && call !== undefined) {
      open.delete(callId)
      answers.set(call.index, index)
      callIds.set(index, call.sent)
    }
  }
  return { answers, callIds }
}

function unknownOutput(call: AnyItem, callId: string): AnyItem {
  const tool = call['name'] ?? null
  return {
    type: 'function_call_output',
    call_id: callId,
    output: null,
    outcome: 'outcome_unknown',
    tool,
    detail: null,
  }
}

function isCallOrOutput({ type }: AnyItem): boolean {
  return type === 'function_call' || type === 'function_call_output'
}

function callIdOf(item: AnyItem): string {
  return typeof item['call_id'] === 'string' ? item['call_id'] : ''
}

// Open Responses, FunctionCallItemParam.
function isSendable(callId: string): boolean {
  return callId !== '' && isWithin(callId, CALL_ID_LENGTH_MAX)
}

/** The id itself at its first use; otherwise, or when the protocol does not take it, one made from it. */
function callIdToSend(callId: string, use: number): string {
  if (use === 0 && isSendable(callId)) return callId
  const hash = createHash('sha256')
    .update(JSON.stringify([callId, use]))
    .digest('hex')
  return `call_${hash.slice(0, 32)}`
}
