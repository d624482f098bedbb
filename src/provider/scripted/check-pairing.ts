/** What matters of an item for whether a conversation is whole. */
export interface PairedItem {
  readonly type: string
  /** Null for all but messages. */
  readonly role: string | null
  readonly id: string | null
  readonly callId: string | null
  /** Null: not known to come from here. */
  readonly origin: Origin | null
}

/** Where an item stood in the response that put it out. */
export interface Origin {
  readonly responseId: string
  /** The next item of the response that is not reasoning, which is what reasoning belongs to. Null: there is none. */
  readonly follower: PairedItem | null
}

/**
 * Why a conversation cannot go on: a call without its one output before the model speaks again, an output without a
 * call before it, or reasoning without the item that it led to. Null: it can. Of what is stored only the outputs that
 * it lacks can be wrong: the rest was looked at when it came, or is the script's own, as are ids that it uses again.
 */
export function checkPairing(stored: readonly PairedItem[], sent: readonly PairedItem[]): string | null {
  return checkCalls(stored, sent) ?? checkReasoning(sent)
}

function checkCalls(stored: readonly PairedItem[], sent: readonly PairedItem[]): string | null {
  const calls = new Calls(stored)
  // A stored response is over: nothing that is sent can be a part of it.
  let isOver = true
  let last: Origin | null = null
  for (const item of sent) {
    const isSpeaking = isFromModel(item)
    const left = isSpeaking && isNextResponse(item.origin, last, isOver) ? calls.open : null
    const fault = calls.add(item)
    if (fault !== null) return fault
    if (left !== null) return noOutput(left)
    if (isSpeaking) last = item.origin
    isOver = !isSpeaking
  }
  return calls.open === null ? null : noOutput(calls.open)
}

/** The calls of a conversation, as far as it has been read. */
class Calls {
  readonly #seen = new Set<string>()
  readonly #open = new Set<string>()

  constructor(stored: readonly PairedItem[]) {
    for (const { type, callId } of stored) {
      if (callId === null) continue
      if (type === 'function_call') this.#begin(callId)
      if (type === 'function_call_output') this.#open.delete(callId)
    }
  }

  /** The first call that has no output yet. */
  get open(): string | null {
    const [first] = this.#open
    return first ?? null
  }

  /** Takes the next item that was sent, or says why it cannot stand there. */
  add({ type, callId }: PairedItem): string | null {
    if (callId === null) return null
    if (type === 'function_call') {
      if (this.#seen.has(callId)) return `More than one function call came with call_id ${callId}.`
      this.#begin(callId)
    }
    if (type !== 'function_call_output' || this.#open.delete(callId)) return null
    if (this.#seen.has(callId)) return `More than one output came for function call ${callId}.`
    return `No tool call found for function call output with call_id ${callId}.`
  }

  #begin(callId: string): void {
    this.#seen.add(callId)
    this.#open.add(callId)
  }
}

function noOutput(callId: string): string {
  return `No tool output found for function call ${callId}.`
}

// Where it is not known what an item comes from, a response lasts until somebody else has spoken.
function isNextResponse(origin: Origin | null, last: Origin | null, isOver: boolean): boolean {
  return origin === null || last === null ? isOver : origin.responseId !== last.responseId
}

function checkReasoning(sent: readonly PairedItem[]): string | null {
  let next: PairedItem | null = null
  for (const item of sent.toReversed()) {
    if (item.type !== 'reasoning') next = item
    else if (!isFollowedBy(item, next))
      return `Reasoning item '${item.id?.slice(0, 100) ?? ''}' came without the item that has to follow it.`
  }
  return null
}

function isFollowedBy({ origin }: PairedItem, next: PairedItem | null): boolean {
  if (next === null || !isFromModel(next)) return false
  return origin === null || (origin.follower !== null && isSame(origin.follower, next))
}

// Clients that send a conversation whole may leave ids out, or give a call a call_id or an id of their own.
function isSame(known: PairedItem, { type, id, callId }: PairedItem): boolean {
  if (type !== known.type) return false
  return id === known.id || (callId === null ? id === null : callId === known.callId)
}

function isFromModel({ type, role }: PairedItem): boolean {
  return type === 'function_call' || type === 'reasoning' || role === 'assistant'
}
