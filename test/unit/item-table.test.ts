import { expect, test } from 'vitest'

import { ItemTable } from '../../src/stream/item-table.ts'

const note = (): void => undefined

function call(id: string | null, callId: string): { type: string; call_id: string } {
  return { type: 'function_call', call_id: callId, ...(id !== null && { id }) }
}

// From some number of items on they are looked up by key: the answers must be the same on both sides of it.
test.for([[2], [40]])(
  'an item of %i is found by its index, by the id of its call, and by its own',
  ([count = 2]) => {
    const table = new ItemTable()
    for (let at = 0; at < count; at += 1) {
      table.add({ output_index: at, item_id: `fc_${at}` }, 'function_call', call(`fc_${at}`, `call_${at}`))
    }
    const found = Array.from({ length: count }, (_, at) => [
      table.find({ output_index: at, item_id: `fc_${at}` }, note)?.callId,
      table.findSame(at, call(null, `call_${at}`))?.callId,
      table.findSame(null, call(null, `call_${at}`))?.callId,
      table.findSame(at, { type: 'function_call', id: `fc_${at}` })?.callId,
      table.findSame(at + 1, call(`fc_${at}`, `call_${at}`)),
      table.findSame(at, { type: 'function_call_output', call_id: `call_${at}` }),
    ])
    expect(found).toEqual(
      Array.from({ length: count }, (_, at) => [
        ...Array.from({ length: 4 }, () => `call_${at}`),
        null,
        null,
      ]),
    )
  },
)

test.for([[1], [40]])(
  'of %i items that share an id, the latest is meant, and an id it once had still means it',
  ([count = 1]) => {
    const table = new ItemTable()
    for (let at = 0; at < count; at += 1)
      table.add({ output_index: 0, item_id: 'same' }, 'function_call', null)
    const latest = table.items.at(-1)
    if (latest === undefined) throw new Error('nothing was added')
    latest.close({ type: 'function_call', id: 'another', call_id: 'call_1' })
    table.remember(latest)
    expect(table.findSame(0, { type: 'function_call', id: 'same' })).toBe(latest)
    expect(table.findSame(null, { type: 'function_call', id: 'another' })).toBe(latest)
    expect(table.isCertain({ item_id: 'another' }, latest)).toBe(true)
  },
)
