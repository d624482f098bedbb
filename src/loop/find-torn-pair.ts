import type { AnyItem } from '../protocol/items.ts'

/**
 * Says which call a shorter conversation tears from its output, or which reasoning from what it led to; null: none.
 * Calls that had no output before, and reasoning that had led to nothing, are not held against it.
 */
export function findTornPair(after: readonly AnyItem[], before: readonly AnyItem[]): string | null {
  const answered = callIdsOf(before, 'function_call_output')
  const stray = strayReasoning(before)
  const made = new Set<string>()
  const open = new Set<string>()
  for (const [at, item] of after.entries()) {
    const callId = callIdOf(item)
    if (item.type === 'function_call') {
      made.add(callId)
      if (answered.has(callId)) open.add(callId)
    } else if (item.type === 'function_call_output') {
      if (!made.has(callId)) return `the output of call ${JSON.stringify(callId)} is there without the call`
      open.delete(callId)
    } else if (isStray(item, after[at + 1]) && !stray.has(nameOf(item))) {
      return `reasoning ${JSON.stringify(item['id'] ?? null)} is there without what it led to`
    }
  }
  const [lost] = open
  return lost === undefined ? null : `call ${JSON.stringify(lost)} is there without its output`
}

function callIdsOf(items: readonly AnyItem[], type: string): ReadonlySet<string> {
  return new Set(items.filter((item) => item.type === type).map(callIdOf))
}

function callIdOf(item: AnyItem): string {
  return typeof item['call_id'] === 'string' ? item['call_id'] : ''
}

function strayReasoning(items: readonly AnyItem[]): ReadonlySet<string> {
  return new Set(items.filter((item, at) => isStray(item, items[at + 1])).map(nameOf))
}

function isStray(item: AnyItem, next: AnyItem | undefined): boolean {
  return item.type === 'reasoning' && !isLedTo(next)
}

// Not every provider gives reasoning an id.
function nameOf(item: AnyItem): string {
  return typeof item['id'] === 'string' ? `id ${item['id']}` : JSON.stringify(item)
}

/** Whether an item is one that a model puts out after it has thought. */
function isLedTo(item: AnyItem | undefined): boolean {
  if (item === undefined || item.type === 'function_call_output') return false
  return item.type !== 'message' || item['role'] === 'assistant'
}
