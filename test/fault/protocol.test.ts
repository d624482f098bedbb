import { expect, test } from 'vitest'

import { callItem, sseText, StreamBuilder } from '../../scripts/fixtures/stream-builder.ts'
import { strict } from '../../src/protocol/strict.ts'
import { anomalyCodes, decodeFixture, decodeText } from '../decode.ts'

test('fault P20: an event that is not JSON is kept exactly, and the response fails', () => {
  const { events, response } = decodeFixture('json-invalid')
  const bad = events.find(({ status }) => status === 'invalid_json')
  expect(bad?.raw).toBe('{"type":"response.output_text.delta","delta":')
  expect(response.status).toBe('failed')
  expect(response.error?.code).toBe('malformed_event')
})

test('fault P21: events, items and fields that nobody knows are kept and change nothing', () => {
  const { events, response } = decodeFixture('quirk-hosted-items-and-keepalive')
  expect(events.flatMap(({ errors }) => errors)).toEqual([])
  expect(events.some(({ event_name: name }) => name === 'acme:trace')).toBe(true)
  expect(response.status).toBe('completed')
  expect(response.items[0]).toEqual({
    type: 'web_search_call',
    id: 'ws_0',
    status: 'completed',
    action: { query: 'x' },
  })
})

test('fault P22: odd sequence numbers are noted on their events and fail nothing', () => {
  const decoded = decodeFixture('sequence-anomalies')
  expect(anomalyCodes(decoded)).toEqual([
    'sequence_repeated',
    'sequence_gap',
    'sequence_backwards',
    'sequence_gap',
  ])
  expect(decoded.response.status).toBe('completed')
})

test('fault P22: missing sequence numbers are noted once', () => {
  const decoded = decodeFixture('quirk-no-sequence-numbers')
  expect(anomalyCodes(decoded)).toEqual(['sequence_missing'])
  expect(decoded.response.calls[0]?.disposition).toBe('ready')
})

test('fault P22: the strict profile does not use a response with a sequence gap', () => {
  const { response, events } = decodeFixture('sequence-anomalies', { profile: strict })
  expect(response.error?.code).toBe('protocol_violation')
  expect(events.length).toBe(decodeFixture('sequence-anomalies').events.length)
})

test('fault P23: two items on one output_index are told apart by their ids', () => {
  const decoded = decodeFixture('output-index-shared')
  expect(anomalyCodes(decoded)).toContain('output_index_reused')
  expect(decoded.response.calls.map(({ callId, name, arguments: args }) => [callId, name, args])).toEqual([
    ['call_0', 'add', '{"a":2,"b":3}'],
    ['call_1', 'sub', '{}'],
  ])
})

test('fault P23: deltas before their item still belong to it', () => {
  const decoded = decodeFixture('delta-before-added')
  expect(anomalyCodes(decoded)).toContain('item_not_added')
  expect(decoded.response.calls).toMatchObject([{ callId: 'call_0', disposition: 'ready' }])
  expect(decoded.response.items.length).toBe(1)
})

test('fault P23: an item that is added again after it was done does not come twice', () => {
  const decoded = decodeFixture('added-after-done')
  expect(anomalyCodes(decoded)).toEqual(expect.arrayContaining(['item_added_after_done']))
  expect(decoded.response.calls.length).toBe(1)
})

test.for(['call-id-changes', 'type-changes'])(
  'fault P23: a contradictory item (%s) makes a response that is not dispatched',
  (name) => {
    const decoded = decodeFixture(name)
    expect(anomalyCodes(decoded)).toContain('item_contradicted')
    expect(decoded.response).toMatchObject({ status: 'failed', error: { code: 'protocol_violation' } })
    expect(decoded.response.calls.every(({ disposition }) => disposition === 'truncated')).toBe(true)
  },
)

test('fault P23: a terminal response with another call in the same place is a contradiction', () => {
  const other = { ...callItem(0, 'add', '{}'), call_id: 'call_other', id: 'fc_other' }
  const stream = new StreamBuilder()
    .start()
    .call(0, 'add', ['{}'])
    .end('completed', { output: [other] })
  const { response } = decodeText(sseText(stream.events))
  expect(response.error?.code).toBe('protocol_violation')
})

test('fault P24: done arguments win over deltas when the terminal response agrees as JSON', () => {
  const decoded = decodeFixture('arguments-delta-done-differ')
  expect(anomalyCodes(decoded)).toContain('arguments_differ')
  expect(decoded.response.calls).toMatchObject([{ arguments: '{"b":3, "a":2}', disposition: 'ready' }])
})

test('fault P24: arguments that the terminal response contradicts are not run', () => {
  const decoded = decodeFixture('arguments-differ-from-terminal')
  expect(anomalyCodes(decoded)).toContain('arguments_differ')
  expect(decoded.response.status).toBe('completed')
  expect(decoded.response.calls).toMatchObject([{ callId: 'call_0', disposition: 'bad_arguments' }])
})

test('fault P24: two different done items for one call are not run', () => {
  expect(decodeFixture('item-done-rival').response.calls).toMatchObject([{ disposition: 'bad_arguments' }])
})

test('fault P24: a text whose deltas and done differ is noted, and done is what counts', () => {
  const decoded = decodeFixture('text-delta-done-differ')
  expect(anomalyCodes(decoded)).toContain('delta_done_differ')
  const unfinished = decodeText(
    sseText(
      new StreamBuilder()
        .start()
        .message(0, ['One ', 'two.'])
        .events.filter(
          ({ type }) => type !== 'response.output_item.done' && type !== 'response.content_part.done',
        )
        .map(({ type, data }) => ({ type, data: 'text' in data ? { ...data, text: 'One three.' } : data })),
    ),
  )
  expect(unfinished.response.items).toMatchObject([{ content: [{ text: 'One three.' }] }])
})

test('fault P25: an item whose done is missing is taken from the terminal response', () => {
  const decoded = decodeFixture('quirk-item-done-missing')
  expect(anomalyCodes(decoded)).toContain('item_not_done')
  expect(decoded.response.items).toEqual([callItem(0, 'add', '{"a":2,"b":3}')])
  expect(decoded.response.calls[0]?.disposition).toBe('ready')
})

test('fault P25: a call that only the terminal response has is recovered', () => {
  const decoded = decodeFixture('quirk-call-only-in-terminal')
  expect(anomalyCodes(decoded)).toContain('item_recovered')
  expect(decoded.response.calls).toMatchObject([
    { callId: 'call_0', arguments: '{"a":2,"b":3}', disposition: 'ready' },
  ])
})

test('fault P26: an early [DONE] truncates the response, and what follows counts for nothing', () => {
  const decoded = decodeFixture('done-mark-early')
  expect(decoded.response.error?.code).toBe('stream_truncated')
  expect(anomalyCodes(decoded)).toContain('late_event')
  expect(decoded.frames.filter(({ type }) => type === 'output_text_delta').length).toBe(2)
})

test('fault P26: events after the terminal event are recorded as late and ignored', () => {
  const decoded = decodeFixture('events-after-terminal')
  expect(decoded.response).toMatchObject({ status: 'completed', calls: [] })
  expect(anomalyCodes(decoded).filter((code) => code === 'late_event').length).toBeGreaterThan(3)
})

test('fault P27: response.failed gives the error that the provider named', () => {
  const { response } = decodeFixture('failed')
  expect(response.status).toBe('failed')
  expect(response.error).toMatchObject({ code: 'response_failed', provider: { code: 'server_error' } })
})

test('fault P28: an incomplete response is not a failure, and its calls are not run', () => {
  const { response } = decodeFixture('incomplete')
  expect(response).toMatchObject({ status: 'incomplete', incompleteReason: 'max_output_tokens', error: null })
  expect(response.calls).toMatchObject([{ name: 'add', disposition: 'truncated' }])
})

test('fault P28: a call that says it is incomplete is not run in a response that completed', () => {
  const cut = callItem(0, 'add', '{"a":2', 'incomplete')
  const stream = new StreamBuilder().start().addItem(0, cut).doneItem(0, cut).end()
  expect(decodeText(sseText(stream.events)).response.calls).toMatchObject([{ disposition: 'truncated' }])
})

test.for(['error-without-failed', 'error-then-failed', 'quirk-flat-error'])(
  'fault P29: an error event (%s) fails the response with what the provider said',
  (name) => {
    const { response } = decodeFixture(name)
    expect(response.status).toBe('failed')
    expect(response.error?.code).toBe('response_failed')
    expect(response.error?.provider?.message).toMatch(/slow down|try later/u)
  },
)

test('fault P29: a response that completes after an error event is not dispatched', () => {
  const error = { type: 'server_error', code: null, message: 'oops', param: null }
  const stream = new StreamBuilder().start().call(0, 'add', ['{}']).event('error', { error }).end()
  const { response } = decodeText(sseText(stream.events))
  expect(response.status).toBe('failed')
  expect(response.calls).toMatchObject([{ disposition: 'truncated' }])
})

test('fault P30: a second call with the same call_id is not run', () => {
  const { calls } = decodeFixture('call-id-twice').response
  expect(calls.map(({ disposition }) => disposition)).toEqual(['ready', 'duplicate'])
})

test('fault P30: a repeated done does not double a call', () => {
  const decoded = decodeFixture('item-done-repeated')
  expect(anomalyCodes(decoded)).toContain('item_done_repeated')
  expect(decoded.response.calls).toMatchObject([{ callId: 'call_0', disposition: 'ready' }])
})

test('fault P31: names that no tool can have come through as they are, for the loop to answer', () => {
  const names = ['', 'ADD', 'no such tool', '\u001b[31m\u0000']
  const stream = new StreamBuilder().start()
  names.forEach((name, at) => stream.doneItem(at, callItem(at, name, '{}')))
  const { calls } = decodeText(sseText(stream.end().events)).response
  expect(calls.map(({ name, disposition }) => [name, disposition])).toEqual(
    names.map((name) => [name, 'ready']),
  )
})

test('fault P31: a call without a call_id cannot be answered, so its response is not used', () => {
  const { response } = decodeFixture('call-without-id')
  expect(response.error?.code).toBe('protocol_violation')
})

test('fault P32: arguments that are empty, no object or no JSON come through untouched', () => {
  const texts = ['', 'null', '[1]', '{"a":', 'rm -rf', '"{}"']
  const stream = new StreamBuilder().start()
  texts.forEach((args, at) => stream.call(at, 'add', args === '' ? [] : [args]))
  const { calls } = decodeText(sseText(stream.end().events)).response
  expect(calls.map(({ arguments: args }) => args)).toEqual(texts)
})

test('fault P33: an item nested too deeply fails the response and can still be logged', () => {
  const { response, frames } = decodeFixture('json-deep-item')
  expect(response.error?.code).toBe('malformed_event')
  expect(() => JSON.stringify({ frames, response })).not.toThrow()
})

test('fault P33: a million levels of nesting neither crash nor hang the reader', () => {
  const deep = '['.repeat(1_000_000) + ']'.repeat(1_000_000)
  const item = `{"type":"response.output_item.done","output_index":0,"item":{"type":"x","deep":${deep}}}`
  const { response } = decodeText(`data: ${item}\n\ndata: {"type":"acme:x","deep":${deep}}\n\n`)
  expect(response.error?.code).toBe('malformed_event')
})

test('fault P33: prototype keys change no prototype, and the text is logged as it came', () => {
  const before = Object.getOwnPropertyNames(Object.prototype)
  const { response, events } = decodeFixture('json-prototype-keys')
  expect(Object.getOwnPropertyNames(Object.prototype)).toEqual(before)
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
  expect(response.calls[0]?.arguments).toContain('__proto__')
  expect(events.some(({ raw }) => raw?.includes('"__proto__":{"delta":"x"}'))).toBe(true)
})

test('fault P33: duplicate keys, huge numbers and lone surrogates are logged letter for letter', () => {
  const { events } = decodeFixture('json-odd-values')
  const odd = events.find(({ raw }) => raw?.includes('1e400'))
  expect(odd?.raw).toContain(String.raw`"delta":"\ud800","delta":"\udc00 last key wins"`)
  expect(odd?.raw).toContain('9007199254740993')
})
