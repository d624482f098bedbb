import { expect, test } from 'vitest'

import type { Frame } from '../../../src/frames/generated/frame.ts'
import { partsAt } from '../../../src/inspect/page/derive/attempts.ts'
import { deriveIndex } from '../../../src/inspect/page/derive/run-index.ts'

const saidBy = (...payloads: readonly object[]): readonly string[] => {
  const frames = [{ type: 'request_sent', turn: 1, attempt: 0 }, ...payloads] as unknown as readonly Frame[]
  const [attempt] = deriveIndex(frames).attempts.all
  const parts = attempt === undefined ? [] : partsAt(attempt, Infinity)
  return parts.map(({ kind, text, length }) => `${kind}: ${text.slice(0, length)}`)
}

const delta = (text: string, outputIndex: number | null, itemId: string | null): object => ({
  type: 'output_text_delta',
  delta: text,
  output_index: outputIndex,
  item_id: itemId,
})

test('deltas are joined by their place, also where every event gives the item another id', () => {
  expect(saidBy(delta('a', 0, 'x'), delta('b', 1, 'y'), delta('c', 0, 'z'))).toEqual(['text: ac', 'text: b'])
  expect(saidBy(delta('a', null, 'x'), delta('b', null, 'y'), delta('c', null, 'x'))).toEqual([
    'text: ac',
    'text: b',
  ])
})

const items = [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'whole' }] }]
const settled = (status: string): object => ({ type: 'response_settled', status, items, error: null })

test('a response that failed keeps what came of it, and one that did not is what its items say', () => {
  expect(saidBy(delta('wh', 0, 'x'), settled('failed'))).toEqual(['text: wh'])
  expect(saidBy(delta('wh', 0, 'x'), settled('completed'))).toEqual(['text: whole'])
  expect(saidBy(settled('failed'))).toEqual(['text: whole'])
})
