import type { InputItem } from '../../protocol/items.ts'

/** Which response each item belongs to, and which of those begin with reasoning. */
export interface ResponseGroups {
  /** By the place of the item. What a model put out and the outputs that answer it have one number. */
  readonly numbers: readonly number[]
  readonly withReasoning: ReadonlySet<number>
}

/** Numbers items by response: a new one begins behind outputs, and at a message that is not the assistant's. */
export function responseGroups(items: readonly InputItem[]): ResponseGroups {
  const withReasoning = new Set<number>()
  let group = 0
  let isAnswered = false
  const numbers = items.map((item) => {
    const isOutput = item.type === 'function_call_output'
    const isFromCaller = item.type === 'message' && item.role !== 'assistant'
    if (!isOutput && (isAnswered || isFromCaller)) group += 1
    isAnswered = isOutput
    if (item.type === 'reasoning') withReasoning.add(group)
    return group
  })
  return { numbers, withReasoning }
}
