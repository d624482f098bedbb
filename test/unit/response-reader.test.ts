import { expect, test } from 'vitest'

import {
  callItem,
  messageItem,
  sseText,
  StreamBuilder,
  textPart,
} from '../../scripts/fixtures/stream-builder.ts'
import { strict } from '../../src/protocol/strict.ts'
import { anomalyCodes, decodeChunks, decodeFixture, decodeText, fixtureNames, readBody } from '../decode.ts'

const ADD = '{"a":2,"b":3}'

function decodeBody(name: string): ReturnType<typeof decodeChunks> {
  return decodeChunks([readBody(name)], { shape: 'body' })
}

test('text arrives as deltas and as one finished item', () => {
  const { frames, response } = decodeFixture('text')
  const deltas = frames.flatMap((frame) => (frame.type === 'output_text_delta' ? [frame.delta] : []))
  expect(deltas).toEqual(['The sum ', 'is ', '5.'])
  expect(response.items).toEqual([messageItem('msg_0', 'completed', [textPart('The sum is 5.')])])
  expect(response).toMatchObject({ responseId: 'resp_1', status: 'completed', calls: [], error: null })
  expect(response.usage).toMatchObject({ total_tokens: 154 })
})

test('the first byte is recorded before the first event', () => {
  expect(decodeFixture('text').frames[0]).toMatchObject({ type: 'response_first_byte', turn: 1, attempt: 0 })
  expect(decodeFixture('cut-before-first-byte').frames).toEqual([])
})

test('a derived frame stands directly after its event', () => {
  const { frames } = decodeFixture('reasoning-encrypted')
  const derived = frames.flatMap((frame, at) => {
    const before = frames[at - 1]
    return frame.type === 'reasoning_delta' && before?.type === 'provider_event'
      ? [[before.event_name, frame.part, frame.delta]]
      : []
  })
  expect(derived).toEqual([
    ['response.reasoning_summary_text.delta', 'summary', 'Adding '],
    ['response.reasoning_summary_text.delta', 'summary', 'two numbers.'],
    ['response.reasoning.delta', 'content', '2 and '],
    ['response.reasoning.delta', 'content', '3 make 5'],
  ])
})

test('the older name of reasoning events gives the same frames and items', () => {
  const { frames, response } = decodeFixture('quirk-reasoning-text-events')
  const deltas = frames.flatMap((frame) =>
    frame.type === 'reasoning_delta' ? [`${frame.part} ${frame.delta}`] : [],
  )
  expect(deltas).toEqual(['summary Short.', 'content long ', 'content thoughts'])
  expect(response.items[0]).toMatchObject({ type: 'reasoning', encrypted_content: 'b3BhcXVlLXRvLXVz' })
})

test('a refusal is told apart from text', () => {
  const { frames, response } = decodeFixture('refusal')
  expect(frames.filter(({ type }) => type === 'refusal_delta').length).toBe(2)
  expect(response.items[0]).toMatchObject({
    content: [{ type: 'refusal', refusal: 'I cannot help with that.' }],
  })
})

test.for([
  'arguments-by-deltas',
  'arguments-only-on-done',
  'quirk-arguments-only-on-item-done',
  'quirk-item-done-missing',
  'quirk-empty-terminal-output',
  'quirk-call-only-in-terminal',
  'quirk-rotating-item-ids',
  'quirk-response-done',
  'delta-before-added',
])('the call of stream %s is assembled', (name) => {
  const { response } = decodeFixture(name)
  expect(response.calls).toMatchObject([
    { slot: 0, outputIndex: 0, callId: 'call_0', name: 'add', arguments: ADD, disposition: 'ready' },
  ])
  expect(response.items.length).toBe(1)
})

test('arguments on the finished item outrank arguments.done, which outrank deltas, which outrank added', () => {
  const at = { item_id: 'fc_0', output_index: 0 }
  const steps = [
    (stream: StreamBuilder) => stream.addItem(0, callItem(0, 'add', '{"from":"added"}', 'in_progress')),
    (stream: StreamBuilder) =>
      stream.event('response.function_call_arguments.delta', { ...at, delta: '{"from":"deltas"}' }),
    (stream: StreamBuilder) =>
      stream.event('response.function_call_arguments.done', {
        ...at,
        arguments: '{"from":"arguments.done"}',
      }),
    (stream: StreamBuilder) => stream.doneItem(0, callItem(0, 'add', '{"from":"item"}')),
  ]
  const sources = steps.map((_, last) => {
    const stream = new StreamBuilder().start()
    for (const step of steps.slice(0, last + 1)) step(stream)
    const { calls } = decodeText(sseText(stream.end('completed', { output: [] }).events)).response
    return calls.map(({ arguments: args, disposition }) => [args, disposition])
  })
  expect(sources).toEqual([
    [['{"from":"added"}', 'ready']],
    [['{"from":"deltas"}', 'ready']],
    [['{"from":"arguments.done"}', 'ready']],
    [['{"from":"item"}', 'ready']],
  ])
})

test('an empty argument text on the finished item does not hide what was streamed', () => {
  const stream = new StreamBuilder().start().call(0, 'add', [ADD])
  const done = stream.events.findIndex(({ type }) => type === 'response.output_item.done')
  stream.events[done] = {
    type: 'response.output_item.done',
    data: { ...stream.events[done]?.data, item: callItem(0, 'add', '') },
  }
  const { response } = decodeText(
    sseText(stream.end('completed', { output: [callItem(0, 'add', '')] }).events),
  )
  expect(response.calls).toMatchObject([{ arguments: ADD, disposition: 'ready' }])
  expect(response.items).toEqual([callItem(0, 'add', ADD)])
})

test('interleaved calls come out in output order', () => {
  const { calls } = decodeFixture('interleaved-items').response
  expect(calls.map(({ slot, callId, arguments: args }) => [slot, callId, args])).toEqual([
    [0, 'call_0', ADD],
    [1, 'call_1', ADD],
  ])
})

test('a message that was never finished is put together from its deltas', () => {
  const { response } = decodeFixture('cut-between-events')
  expect(response.error?.code).toBe('stream_truncated')
  expect(response.items).toEqual([
    {
      type: 'message',
      id: 'msg_0',
      status: 'incomplete',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'Grün ist ', annotations: [] }],
    },
  ])
})

test('a last event without its blank line is not lost', () => {
  const { events, response } = decodeFixture('framing-no-final-blank-line')
  expect(events.at(-1)).toMatchObject({ status: 'done', raw: '[DONE]' })
  expect(response.status).toBe('completed')
})

test('[DONE] is not needed', () => {
  expect(decodeFixture('text-without-done-mark').response.status).toBe('completed')
})

test('a completed response without items is done with nothing', () => {
  expect(decodeFixture('empty-output').response).toMatchObject({ status: 'completed', items: [], calls: [] })
})

test('an event name that is not the type is noted', () => {
  expect(anomalyCodes(decodeFixture('framing-wrong-event-names'))).toContain('event_name_differs')
  expect(anomalyCodes(decodeFixture('framing-no-event-names'))).toEqual([])
})

test('a body gives the items and calls that its stream would give', () => {
  const { events, response, frames } = decodeBody('call')
  expect(frames.map(({ type }) => type)).toEqual(['response_first_byte', 'provider_event'])
  expect(events[0]).toMatchObject({
    status: 'event',
    event_name: null,
    raw: readBody('call').toString('utf8'),
  })
  expect(events[0]?.anomalies).toEqual([])
  expect(response).toMatchObject({ status: 'completed', responseId: 'resp_1' })
  expect(response.calls).toMatchObject([
    { callId: 'call_1', arguments: ADD, disposition: 'ready', outputIndex: 1 },
  ])
})

test.for([
  ['failed', 'response_failed'],
  ['still-in-progress', 'protocol_violation'],
  ['error-with-status-200', 'response_failed'],
  ['output-null', 'protocol_violation'],
  ['not-json', 'malformed_event'],
  ['not-an-object', 'malformed_event'],
] as const)('a body that is no answer (%s) fails with %s', ([name, code]) => {
  const { events, response } = decodeBody(name)
  expect(response).toMatchObject({ status: 'failed', error: { code } })
  expect(events.map(({ raw }) => raw)).toEqual([readBody(name).toString('utf8')])
})

test('a body cut off by the token limit is incomplete, and its call is not run', () => {
  const { response } = decodeBody('incomplete')
  expect(response).toMatchObject({ status: 'incomplete', incompleteReason: 'max_output_tokens' })
  expect(response.calls).toMatchObject([{ disposition: 'truncated' }])
})

test('a body over the byte limit is refused', () => {
  const limits = { responseBytesMax: 100 }
  const { response, isReadToEnd } = decodeChunks([readBody('text')], { shape: 'body', limits })
  expect(isReadToEnd).toBe(false)
  expect(response.error?.code).toBe('response_too_large')
})

test('a terminal event and a status that differ count as the worse of the two', () => {
  const { events } = new StreamBuilder()
    .start()
    .call(0, 'add', [ADD])
    .end('completed', { status: 'incomplete' })
  const decoded = decodeText(sseText(events))
  expect(anomalyCodes(decoded)).toContain('status_differs')
  expect(decoded.response.status).toBe('incomplete')
  expect(decoded.response.calls).toMatchObject([{ disposition: 'truncated' }])
})

test('the last response id that any event had is the one that counts', () => {
  const { events } = new StreamBuilder('resp_a').start().message(0, ['x']).end('completed', { id: 'resp_b' })
  const decoded = decodeText(sseText(events))
  expect(decoded.response.responseId).toBe('resp_b')
  expect(anomalyCodes(decoded)).toContain('response_id_changed')
})

test('validation never changes what is read: both profiles give the same texts and items', () => {
  for (const name of fixtureNames('streams')) {
    const loose = decodeFixture(name)
    const tight = decodeFixture(name, { profile: strict })
    const texts = ({ events }: typeof loose): unknown =>
      events.map(({ raw, raw_base64: bytes }) => raw ?? bytes)
    expect(texts(tight), name).toEqual(texts(loose))
    expect(tight.response.items, name).toEqual(loose.response.items)
  }
})

test('the strict profile refuses what the tolerant one lets pass', () => {
  const name = 'quirk-reasoning-text-events'
  expect(decodeFixture(name).response.status).toBe('completed')
  expect(decodeFixture(name, { profile: strict }).response.error?.code).toBe('protocol_violation')
})
