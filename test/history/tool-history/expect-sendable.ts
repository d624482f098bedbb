import { expect } from 'vitest'

import type { InputItem } from '../../../src/protocol/items.ts'
import { parseRequest } from '../../../src/protocol/parse-request.ts'

/** Fails unless the items are valid by the schema and each call has one output somewhere behind it. */
export function expectSendable(items: readonly InputItem[]): void {
  parseRequest({ input: items })
  const open = new Set<string>()
  const seen = new Set<string>()
  for (const item of items) {
    if (item.type === 'function_call') {
      expect(seen.has(item.call_id), `the call id ${item.call_id} is used twice`).toBe(false)
      seen.add(item.call_id)
      open.add(item.call_id)
      expect(() => JSON.parse(item.arguments) as unknown).not.toThrow()
    } else if (item.type === 'function_call_output') {
      expect(open.delete(item.call_id), `the output ${item.call_id} has no call`).toBe(true)
    }
  }
  expect([...open]).toEqual([])
}
