import type { LoopResponse, RespondInput } from '../../machines/loop.types.ts'
import type { LoopPath } from '../../src/chart/loop-paths.ts'
import type { AnyItem } from '../../src/protocol/items.ts'
import type { PathStep } from './path-host.ts'

/** One request, as a model sees it: with what its provider remembers by id. */
export interface SeenRequest {
  readonly input: RespondInput
  readonly items: readonly AnyItem[]
  /** The request before it, and what came back. */
  readonly answered: { readonly items: readonly AnyItem[]; readonly response: LoopResponse } | null
  /** What the conversation was replaced with in between; null when it was not. */
  readonly compacted: readonly AnyItem[] | null
}

/** Plays a provider that remembers every response it gave an id, and keeps what each request amounts to. */
export function seenRequests(
  { events, input: { cursor, items } }: LoopPath,
  steps: readonly PathStep[],
): readonly SeenRequest[] {
  const memory = new Map<string, readonly AnyItem[]>()
  if (cursor !== null) memory.set(cursor.responseId, items.slice(0, cursor.knownItems))
  const requests: SeenRequest[] = []
  let answered: SeenRequest['answered'] = null
  let compacted: SeenRequest['compacted'] = null
  steps.forEach(({ started }, index) => {
    const event = events[index - 1]
    const last = requests.at(-1)
    const output = event !== undefined && 'output' in event ? event.output : null
    if (event?.type === 'xstate.done.actor.respond' && last !== undefined && isResponse(output)) {
      const { response } = output
      if (response.responseId !== null) memory.set(response.responseId, [...last.items, ...response.items])
      answered = { items: last.items, response }
      compacted = null
    }
    if (event?.type === 'xstate.done.actor.compact' && isCompacted(output)) compacted = output.items
    for (const { effect, input } of started) {
      if (effect !== 'respond') continue
      const request: RespondInput = input
      const { previousResponseId } = request
      const known = previousResponseId === null ? [] : memory.get(previousResponseId)
      if (known === undefined) throw new Error(`nobody knows the response ${previousResponseId}`)
      requests.push({ input: request, items: [...known, ...request.items], answered, compacted })
    }
  })
  return requests
}

function isResponse(output: unknown): output is { readonly response: LoopResponse } {
  return typeof output === 'object' && output !== null && 'response' in output
}

function isCompacted(output: unknown): output is { readonly items: readonly AnyItem[] } {
  return typeof output === 'object' && output !== null && 'items' in output
}
