/** What matters of an item for whether a conversation is whole. */
export interface PairedItem {
  readonly type: string
  readonly id: string | null
  readonly callId: string | null
}

/** Why a conversation cannot go on: a call without an output, or an output without a call before it. Null: it can. */
export function checkPairing(items: readonly PairedItem[]): string | null {
  const calls = new Map<string, boolean>()
  for (const { type, callId } of items) {
    if (callId === null) continue
    if (type === 'function_call' && !calls.has(callId)) calls.set(callId, false)
    if (type !== 'function_call_output') continue
    if (!calls.has(callId)) return `No tool call found for function call output with call_id ${callId}.`
    calls.set(callId, true)
  }
  for (const [callId, isAnswered] of calls)
    if (!isAnswered) return `No tool output found for function call ${callId}.`
  return null
}
