// What is quick must not be seen: events that are read by a template, or together, and items that are found by key, are
// what they would be without. Each case here once was something else.
import { Buffer } from 'node:buffer'

import { expect, test } from 'vitest'

import { callItem, sseText, StreamBuilder, type Fields } from '../../scripts/fixtures/stream-builder.ts'
import { FrameStamp } from '../../src/frames/frame-stamp.ts'
import type { Frame } from '../../src/frames/generated/frame.ts'
import { recordResponse } from '../../src/loop/record-response.ts'
import type { JsonObject } from '../../src/protocol/json.ts'
import { tolerant } from '../../src/protocol/tolerant.ts'
import type { AssembledResponse } from '../../src/stream/assemble-response.ts'
import { DeltaTemplate } from '../../src/stream/delta-template.ts'
import { ItemTable } from '../../src/stream/item-table.ts'
import { matchTerminal } from '../../src/stream/match-terminal.ts'
import { OpenItem } from '../../src/stream/open-item.ts'
import { decodeChunks } from '../decode.ts'

interface Seen {
  readonly frames: readonly Frame[]
  readonly response: AssembledResponse
}

/** Reads all behind the first event at once, deltas that follow each other together. */
function together(text: string): Seen {
  const frames: Frame[] = []
  const reader = recordResponse({
    stamp: new FrameStamp('run_test', () => 1000),
    turn: 1,
    attempt: 0,
    profile: tolerant,
    shape: 'stream',
    onFrame: (frame) => frames.push(frame),
    onBlock: (block, added) => {
      for (let at = block.length - added; at < block.length; at += 1) frames.push(block.at(at))
    },
  })
  const first = text.indexOf('\n\n') + 2
  reader.feed(Buffer.from(text.slice(0, first)))
  reader.feed(Buffer.from(text.slice(first)))
  return { response: reader.end(), frames }
}

/** Reads byte by byte, so that no two events come together. */
function alone(text: string): Seen {
  const { frames, response } = decodeChunks(Array.from(Buffer.from(text), (byte) => Buffer.of(byte)))
  return { frames, response }
}

const CUSTOM = 'response.custom_tool_call_input.delta'
const ARGUMENTS = 'response.function_call_arguments.delta'

/** Enough deltas for a template to be learned, to be used once, and to be asked for a run. */
function deltas(stream: StreamBuilder, type: string, fields: Fields): StreamBuilder {
  for (const delta of ['a', 'b', 'c']) stream.event(type, { ...fields, delta })
  return stream
}

test('deltas of a type that is not known do not change which call arguments without an index are for', () => {
  for (const type of [CUSTOM, 'acme:input.delta']) {
    const stream = new StreamBuilder()
      .start()
      .addItem(0, callItem(0, 'read', '', 'in_progress'))
      .addItem(1, callItem(1, 'write', '', 'in_progress'))
    deltas(stream, type, { item_id: 'fc_0', output_index: 0 })
    stream.event(ARGUMENTS, { delta: '{"a":1}' }).end('completed', { output: [] })
    const seen = together(sseText(stream.events))
    expect(seen).toEqual(alone(sseText(stream.events)))
    expect(seen.response.calls).toMatchObject([
      { name: 'read', arguments: '' },
      { name: 'write', arguments: '{"a":1}' },
    ])
  }
})

test('nothing is noted about the item id of deltas of a type that is not known', () => {
  const stream = new StreamBuilder()
    .start()
    .addItem(0, { type: 'custom_tool_call', id: 'ct_0', call_id: 'call_0', name: 'read' })
  deltas(stream, CUSTOM, { item_id: 'ct_other', output_index: 0 }).event('acme:ping')
  const seen = together(sseText(stream.events))
  expect(seen).toEqual(alone(sseText(stream.events)))
  expect(JSON.stringify(seen.frames)).not.toContain('item_id_changed')
})

test('the last of two deltas counts, whatever white space is before the colon of either', () => {
  for (const [first, last] of [
    ['"delta":', '"delta" :'],
    ['"delta" :', '"delta":'],
    ['"delta":', '"delta"\t\t: '],
    ['"delta" :', '"delta"  :'],
  ] as const) {
    const stream = new StreamBuilder().start().addItem(0, callItem(0, 'read', '', 'in_progress'))
    const place = { item_id: 'fc_0', output_index: 0 }
    for (const delta of ['x', 'DROP', 'ALL']) stream.event(ARGUMENTS, { ...place, delta })
    stream.end('completed', { output: [] })
    const text = sseText(stream.events).replaceAll(
      /"delta":("\w+")/gu,
      (_, delta: string) => `${first}${delta},${last}"x"`,
    )
    expect(together(text)).toEqual(alone(text))
    expect(together(text).response.calls).toMatchObject([{ arguments: 'xxx' }])
  }
})

test.for([
  ['white space before the colon', '{"delta":"b","delta" :"b"}'],
  ['a tab before the colon', '{"delta"\t:"b","delta":"b"}'],
  ['an escape in the name', String.raw`{"delta":"b","d\u0065lta":"b"}`],
  ['an escape and white space', String.raw`{"d\u0065lta" :"b","delta" :"b"}`],
  ['a number of its own', '{"sequence_number":1,"sequence_number" :1,"delta":"b"}'],
] as const)('nothing is learned from a text with a key twice, one of them with %s', ([, text]) => {
  expect(DeltaTemplate.learn(JSON.parse(text) as JsonObject, text)).toBeNull()
})

test('a key with white space before its colon is learned when it is there once', () => {
  const text = '{"type":"x.delta","sequence_number" : 1,"delta" : "a"}'
  const next = text.replace('1', '22').replace('"a"', String.raw`"b\n"`)
  const template = DeltaTemplate.learn(JSON.parse(text) as JsonObject, text)
  expect(template?.read(next)).toEqual(JSON.parse(next))
})

test('an event whose data came over several lines is not what one looks like whose lines are no data', () => {
  const stream = deltas(new StreamBuilder().start().addItem(0, callItem(0, 'read', '')), ARGUMENTS, {
    output_index: 0,
  })
  const lines = sseText(stream.events, '').replaceAll(',"delta":', ',\ndata: "delta":')
  const broken = sseText(deltas(new StreamBuilder(), ARGUMENTS, { output_index: 0 }).events.slice(0, 1), '')
    .replace('"sequence_number":0', `"sequence_number":${stream.events.length}`)
    .replace(',"delta":', ',\n"delta":')
  const seen = together(lines + broken)
  expect(seen).toEqual(alone(lines + broken))
  expect(seen.response.error?.code).toBe('malformed_event')
})

test('a sequence number that is a text does not count', () => {
  const stream = new StreamBuilder().event('response.created', { response: { id: 'resp_1' } })
  deltas(stream, CUSTOM, { sequence_number: 'x' }).event('acme:ping', { sequence_number: 1 })
  const seen = together(sseText(stream.events))
  expect(seen).toEqual(alone(sseText(stream.events)))
  expect(JSON.stringify(seen.frames)).not.toContain('sequence_backwards')
})

// A type and an id that together read like another type and another id.
const LEFT = { type: 'acme:x a', id: 'b', call_id: 'b' }
const RIGHT = { type: 'acme:x', id: 'a b', call_id: 'a b' }

function opened(item: { readonly type: string }): OpenItem {
  const open = new OpenItem(0, item.type, null)
  open.open(item)
  return open
}

test('an item among many is not found by a type and a call id that only look like its own', () => {
  const table = new ItemTable()
  const [left, right] = [LEFT, RIGHT].map((item) => table.add({ output_index: 0 }, item.type, item))
  for (let at = 1; at < 20; at += 1) table.add({ output_index: at }, 'message', { type: 'message' })
  expect([table.findSame(0, LEFT), table.findSame(null, LEFT)]).toEqual([left, left])
  expect([table.findSame(0, RIGHT), table.findSame(null, RIGHT)]).toEqual([right, right])
})

test.for([['id'], ['call_id']] as const)(
  'items whose type and %s look alike are not taken for each other in the terminal response',
  ([sign]) => {
    const [left, right] = [LEFT, RIGHT].map((item) => ({ type: item.type, [sign]: item[sign] }))
    if (left === undefined || right === undefined) throw new Error('two items went in')
    const { terminals } = matchTerminal([opened(left), opened(right)], [right, left])
    expect(terminals).toEqual([left, right])
  },
)
