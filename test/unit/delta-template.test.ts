import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import { isJsonObject, type JsonObject } from '../../src/protocol/json.ts'
import { DeltaTemplate } from '../../src/stream/delta-template.ts'

const EVENT: JsonObject = {
  type: 'response.output_text.delta',
  sequence_number: 7,
  item_id: 'msg_0',
  output_index: 0,
  content_index: 0,
  delta: 'Hello',
  logprobs: [],
  obfuscation: 'x7',
}

function learn(event: JsonObject, text = JSON.stringify(event)): DeltaTemplate {
  const template = DeltaTemplate.learn(event, text)
  if (template === null) throw new Error(`nothing learned from ${text}`)
  return template
}

function parse(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text)
    return isJsonObject(value) ? value : null
  } catch {
    return null
  }
}

test('a template reads the next delta as JSON.parse does', () => {
  const next = JSON.stringify({
    ...EVENT,
    sequence_number: 1234,
    delta: ' wörld "quoted"\n\\',
    obfuscation: '',
  })
  expect(learn(EVENT).read(next)).toEqual(JSON.parse(next))
})

test('a template learns the spacing that Python writes', () => {
  const text = JSON.stringify(EVENT).replaceAll('":', '": ').replaceAll(',"', ', "')
  const next = text.replace('Hello', 'there')
  expect(learn(EVENT, text).read(next)).toEqual({ ...EVENT, delta: 'there' })
})

test.for([
  ['another item', { ...EVENT, item_id: 'msg_1' }],
  ['another type', { ...EVENT, type: 'response.refusal.delta' }],
  ['a missing field', { type: EVENT['type'], sequence_number: 8, delta: 'x' }],
  ['a number that is not plain', { ...EVENT, sequence_number: -1 }],
  ['a number with a fraction', { ...EVENT, sequence_number: 1.5 }],
  ['a delta that is no string', { ...EVENT, delta: 5 }],
  ['log probabilities', { ...EVENT, logprobs: [{ token: 'x' }] }],
] as const)('a template leaves %s to JSON.parse', ([, event]) => {
  expect(learn(EVENT).read(JSON.stringify(event))).toBeNull()
})

test.for([
  ['a raw control character', '"Hello"', '"He\tllo"'],
  ['a bad escape', '"Hello"', String.raw`"He\xllo"`],
  ['a lone backslash before the end', '"Hello"', String.raw`"Hello\"`],
  ['a leading zero', ':7,', ':07,'],
  ['too many digits', ':7,', ':12345678901234567890,'],
  ['no digits', ':7,', ':,'],
  ['text after the end', '"x7"}', '"x7"} '],
] as const)('a template does not take %s for JSON it knows', ([, from, to]) => {
  const text = JSON.stringify(EVENT).replace(from, () => to)
  expect(text).not.toBe(JSON.stringify(EVENT))
  expect(learn(EVENT).read(text)).toBeNull()
})

test('nothing is learned from an object that is not flat, or from text that could mean something else with other values', () => {
  expect(
    DeltaTemplate.learn({ ...EVENT, logprobs: [1] }, JSON.stringify({ ...EVENT, logprobs: [1] })),
  ).toBeNull()
  for (const text of [
    '{"delta":"a","delta":"b"}',
    '{"delta":"b","delta":"b"}',
    '{"delta":"b","\\u0064elta":"b"}',
    '{"sequence_number":0e1,"delta":"b"}',
    '{"sequence_number":0.0,"delta":"b"}',
    '{"type":"\\u0061","delta":"b"}',
  ])
    expect(DeltaTemplate.learn(JSON.parse(text) as JsonObject, text), text).toBeNull()
})

test('whatever a template reads, JSON.parse reads the same', () => {
  const text = fc.string({ unit: 'binary' })
  const value = fc.oneof(text, fc.nat(), fc.boolean(), fc.constant(null), fc.constant([]))
  const extra = fc.dictionary(fc.string(), value, { maxKeys: 3 })
  const event = fc
    .tuple(extra, fc.nat(), text)
    .map(([fields, number, delta]): JsonObject => ({ ...fields, sequence_number: number, delta }))
  // Text surgery: the learned text with a piece of it replaced by anything.
  const surgery = fc.record({
    at: fc.nat({ max: 200 }),
    drop: fc.nat({ max: 12 }),
    insert: fc.oneof(text, fc.json(), fc.constant('"')),
  })
  let read = 0
  fc.assert(
    fc.property(event, fc.nat(), text, fc.option(surgery), (known, number, delta, cut) => {
      const template = DeltaTemplate.learn(known, JSON.stringify(known))
      if (template === null) return
      const whole = JSON.stringify({ ...known, sequence_number: number, delta })
      const next = cut === null ? whole : whole.slice(0, cut.at) + cut.insert + whole.slice(cut.at + cut.drop)
      const result = template.read(next)
      if (result === null) return
      read += 1
      expect(result).toEqual(parse(next))
    }),
    { numRuns: 5000 },
  )
  expect(read).toBeGreaterThan(500)
})
