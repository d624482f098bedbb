import { Buffer } from 'node:buffer'

import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import { inputItems } from '../../../src/loop/input-items.ts'
import { InputWriter } from '../../../src/loop/input-text.ts'
import type { AnyItem } from '../../../src/protocol/items.ts'

const OPTIONS = { mode: 'stateless', isStored: true, answerText: (outcome: string) => outcome } as const

const user = (text: string): AnyItem => ({ type: 'message', role: 'user', content: text })
const says = (text: string): AnyItem => ({ type: 'message', role: 'assistant', content: text })
const call = (callId: string): AnyItem => ({
  type: 'function_call',
  id: `fc_${callId}`,
  call_id: callId,
  name: 'note',
  arguments: '{"text":"word"}',
})
const output = (callId: string): AnyItem => ({
  type: 'function_call_output',
  call_id: callId,
  output: 'noted',
})
const reasoning = (id: string): AnyItem => ({ type: 'reasoning', id, summary: [] })

const ITEM = fc.oneof(
  fc.constantFrom('a', 'b', 'c d', '').map(call),
  fc.constantFrom('a', 'b', 'c d', '').map(output),
  fc.constantFrom('hi', 'more').map(user),
  fc.constantFrom('fine', '').map(says),
  fc.constantFrom('rs_1', 'rs_2').map(reasoning),
  fc.constant<AnyItem>({ type: 'web_search_call', id: 'ws_1' }),
)

test('what is written piece by piece is what is written at once, for any items', () => {
  fc.assert(
    fc.property(fc.array(ITEM, { minLength: 1, maxLength: 30 }), fc.array(fc.nat(30)), (items, cuts) => {
      const writer = new InputWriter(OPTIONS)
      const lengths = [...cuts.filter((cut) => cut > 0 && cut < items.length), items.length]
      for (const length of lengths.sort((a, b) => a - b)) {
        const part = items.slice(0, length)
        const whole = inputItems(part, OPTIONS)
        const { text, warnings } = writer.write(part)
        expect(JSON.parse(`[${text}]`)).toEqual(JSON.parse(JSON.stringify(whole.items)))
        expect(new Set(warnings)).toEqual(new Set(whole.warnings))
        expect(new InputWriter(OPTIONS).write(part)).toMatchObject({ text, warnings })
      }
    }),
    { numRuns: 1000 },
  )
})

test('the text of a request is the start of the next one’s, also where it is long', () => {
  const writer = new InputWriter(OPTIONS)
  const items: AnyItem[] = [user('go')]
  let before = writer.write(items).text
  for (let turn = 0; turn < 600; turn += 1) {
    items.push(reasoning(`rs_${turn}`), call(`call_${turn}`), output(`call_${turn}`))
    const { text } = writer.write(items)
    expect(text.startsWith(before)).toBe(true)
    before = text
  }
  expect(before).toBe(JSON.stringify(inputItems(items, OPTIONS).items).slice(1, -1))
})

test('a long text is in pieces that stay as they are from one request to the next', () => {
  const writer = new InputWriter(OPTIONS)
  const items: AnyItem[] = [user('Grüße 緑')]
  let before = writer.write(items)
  for (let turn = 0; turn < 300; turn += 1) {
    items.push(call(`call_${turn}`), output(`call_${turn}`), says(`${turn} ${'ü'.repeat(300)}`), user('on'))
    const written = writer.write(items)
    const { text, pieces, rest } = written
    const together = pieces.map((piece) => piece.text).join('')
    expect(together === '' ? rest : rest === '' ? together : `${together},${rest}`).toBe(text)
    for (const piece of pieces) expect(piece.byteLength).toBe(Buffer.byteLength(piece.text))
    before.pieces.forEach((piece, at) => expect(pieces[at]).toBe(piece))
    before = written
  }
  expect(before.pieces.length).toBeGreaterThan(3)
  expect(before.rest.length).toBeLessThan(before.text.length / 4)
})

test('a conversation that begins with the same item and goes on in another way is written anew', () => {
  const writer = new InputWriter(OPTIONS)
  const task = user('go')
  const one = [task, call('a'), output('a'), user('and')]
  const other = [task, says('no'), user('and'), call('a'), output('a'), user('so')]
  writer.write([...one, says('x'), user('y')])
  expect(writer.write(other).text).toBe(new InputWriter(OPTIONS).write(other).text)
  expect(writer.write(one).text).toBe(new InputWriter(OPTIONS).write(one).text)
})

test('what goes on from a response is written whole, with one output for each call', () => {
  const writer = new InputWriter({ ...OPTIONS, mode: 'previous_response_id' })
  const items = [output('a'), user('and'), output('a')]
  const { text, warnings } = writer.write(items)
  expect(JSON.parse(`[${text}]`)).toHaveLength(2)
  expect(warnings).toHaveLength(1)
})
