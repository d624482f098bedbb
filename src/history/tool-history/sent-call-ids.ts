import { createHash } from 'node:crypto'

import { codePointLength } from '../../protocol/code-point-length.ts'

// Open Responses, FunctionCallItemParam.
const CALL_ID_LENGTH_MAX = 64

/**
 * Gives every call of a conversation an id that can be sent and that no other call has: its own at the first use,
 * otherwise one made from it. What was given out stays the same when more calls follow, also when it is given in
 * again as the id of a call that was sent before.
 */
export class SentCallIds {
  readonly #uses = new Map<string, number>()
  readonly #taken = new Set<string>()

  next(callId: string): string {
    let use = this.#uses.get(callId) ?? 0
    // An id that was made from this one may have come by itself: as that of a call that an earlier run sent.
    while (this.#taken.has(sentCallId(callId, use))) use += 1
    this.#uses.set(callId, use + 1)
    const sent = sentCallId(callId, use)
    this.#taken.add(sent)
    return sent
  }
}

/** The id under which the use of a call id, counted from 0, is sent. */
export function sentCallId(callId: string, use: number): string {
  if (use === 0 && callId !== '' && codePointLength(callId) <= CALL_ID_LENGTH_MAX) return callId
  const hash = createHash('sha256')
    .update(JSON.stringify([callId, use]))
    .digest('hex')
  return `call_${hash.slice(0, 32)}`
}
