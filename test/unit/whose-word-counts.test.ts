import { expect, test } from 'vitest'

import {
  callItem,
  messageItem,
  sseText,
  StreamBuilder,
  textPart,
} from '../../scripts/fixtures/stream-builder.ts'
import { anomalyCodes, decodeText, type Decoded } from '../decode.ts'

function decode(build: (stream: StreamBuilder) => StreamBuilder): Decoded {
  return decodeText(sseText(build(new StreamBuilder().start()).events))
}

const at = { item_id: 'fc_0', output_index: 0 }

test('a call under two ids in stream and terminal response is not run, wherever it stands', () => {
  const renamed = { ...callItem(1, 'add', '{"a":1}'), call_id: 'call_other' }
  const { response } = decode((stream) =>
    stream
      .message(0, ['x'])
      .call(1, 'add', ['{"a":1}'])
      .end('completed', { output: [renamed] }),
  )
  expect(response.error?.code).toBe('protocol_violation')
})

test('an item that is finished under another index is one item', () => {
  const decoded = decode((stream) =>
    stream
      .addItem(0, callItem(0, 'add', '', 'in_progress'))
      .event('response.function_call_arguments.delta', { ...at, delta: '{"a":' })
      .event('response.output_item.done', { output_index: 3, item: callItem(0, 'add', '{"a":1}') })
      .end('completed', { output: [] }),
  )
  expect(decoded.response.calls).toMatchObject([
    { callId: 'call_0', arguments: '{"a":1}', disposition: 'ready' },
  ])
  expect(anomalyCodes(decoded)).toContain('output_index_changed')
})

function twice(stream: StreamBuilder): StreamBuilder {
  return stream
    .addItem(0, callItem(0, 'add', '', 'in_progress'))
    .event('response.function_call_arguments.done', { ...at, arguments: '{"a":1}' })
    .event('response.function_call_arguments.done', { ...at, arguments: '{"a":2}' })
}

test('two different arguments.done are not run, unless a higher source settles it', () => {
  expect(decode((stream) => twice(stream).end('completed', { output: [] })).response.calls).toMatchObject([
    { disposition: 'bad_arguments' },
  ])
  const settled = decode((stream) =>
    twice(stream)
      .doneItem(0, callItem(0, 'add', '{"a":2}'))
      .end(),
  )
  expect(settled.response.calls).toMatchObject([{ arguments: '{"a":2}', disposition: 'ready' }])
})

test.for([
  ['in the finished item', { a: 1 }, '{"a":1}'],
  ['in the terminal response', '{"a":1}', { a: 2 }],
] as const)('arguments that are no text %s are not run', ([, streamed, terminal]) => {
  const { response } = decode((stream) =>
    stream
      .doneItem(0, { ...callItem(0, 'add', ''), arguments: streamed })
      .end('completed', { output: [{ ...callItem(0, 'add', ''), arguments: terminal }] }),
  )
  expect(response.calls).toMatchObject([{ disposition: 'bad_arguments' }])
})

test.for(['incomplete', 'failed', 'nobody knows'])(
  'a call whose item says %s in either telling is not run',
  (status) => {
    const [good, bad] = [callItem(0, 'add', '{}'), callItem(0, 'add', '{}', status)]
    for (const [streamed, terminal] of [[good, bad] as const, [bad, good] as const]) {
      const { response } = decode((stream) =>
        stream.doneItem(0, streamed).end('completed', { output: [terminal] }),
      )
      expect(response.calls).toMatchObject([{ disposition: 'truncated' }])
    }
  },
)

test('a terminal response with an error is a failure, whatever its status says', () => {
  const error = { code: 'server_error', message: 'half way' }
  const { response } = decode((stream) => stream.call(0, 'add', ['{}']).end('completed', { error }))
  expect(response).toMatchObject({ status: 'failed', error: { code: 'response_failed' } })
  const body = decodeText(JSON.stringify({ id: 'r', status: 'completed', output: [], error }), {
    shape: 'body',
  })
  expect(body.response.error?.provider?.code).toBe('server_error')
})

test('a second response in one stream is not mixed with the first', () => {
  const { response } = decode((stream) =>
    stream
      .call(0, 'add', ['{}'])
      .event('response.created', { response: { id: 'resp_2' } })
      .call(1, 'add', ['{}'])
      .end(),
  )
  expect(response.error?.code).toBe('protocol_violation')
})

test('an extension event does not change the response id', () => {
  const { response } = decode((stream) =>
    stream.event('acme:x', { response: { id: 'other' } }).end('completed', { id: undefined }),
  )
  expect(response.responseId).toBe('resp_1')
})

test('a finished call without its id and name has those that it was announced with', () => {
  const { response } = decode((stream) =>
    stream
      .addItem(0, callItem(0, 'add', '', 'in_progress'))
      .doneItem(0, { type: 'function_call', id: 'fc_0', arguments: '{}' })
      .end('completed', { output: [] }),
  )
  expect(response.items).toMatchObject([{ call_id: 'call_0', name: 'add', arguments: '{}' }])
  expect(response.calls).toMatchObject([{ callId: 'call_0', name: 'add', disposition: 'ready' }])
})

test('a call and its output may share a call id', () => {
  const output = {
    type: 'function_call_output',
    id: 'out_1',
    call_id: 'call_0',
    output: '5',
    status: 'completed',
  }
  const call = callItem(0, 'add', '{}')
  const { response } = decode((stream) =>
    stream
      .doneItem(0, call)
      .doneItem(1, output)
      .end('completed', { output: [output, call] }),
  )
  expect(response.status).toBe('completed')
  expect(response.items.map(({ type }) => type)).toEqual(['function_call', 'function_call_output'])
})

test('a finished message without its content keeps the text that was streamed, and says so', () => {
  const { events } = new StreamBuilder().start().message(0, ['Hello'])
  const emptied = events.map(({ type, data }) => ({
    type,
    data:
      type === 'response.output_item.done' ? { ...data, item: messageItem('msg_0', 'completed', []) } : data,
  }))
  const decoded = decodeText(sseText(emptied))
  expect(decoded.response.items).toMatchObject([{ content: [{ type: 'output_text', text: 'Hello' }] }])
  expect(anomalyCodes(decoded)).toContain('delta_done_differ')
})

test('text that only part events carry is not lost', () => {
  const place = { item_id: 'msg_0', output_index: 0, content_index: 0 }
  const onDone = decode((stream) =>
    stream
      .addItem(0, messageItem('msg_0', 'in_progress', []))
      .event('response.content_part.done', { ...place, part: textPart('all of it') }),
  )
  expect(onDone.response.items).toMatchObject([{ content: [{ text: 'all of it' }] }])
  const onAdded = decode((stream) =>
    stream
      .addItem(0, messageItem('msg_0', 'in_progress', []))
      .event('response.content_part.added', { ...place, part: textPart('start ') })
      .event('response.output_text.delta', { ...place, delta: 'more' }),
  )
  expect(onAdded.response.items).toMatchObject([{ content: [{ text: 'start more' }] }])
  const onItem = decode((stream) =>
    stream.addItem(0, messageItem('msg_0', 'in_progress', [textPart('known')])),
  )
  expect(onItem.response.items).toMatchObject([{ content: [{ text: 'known' }] }])
})

test('an unfinished item keeps its annotations, refusals, summaries and raw reasoning in their order', () => {
  const { events } = new StreamBuilder().start().reasoning(0, ['sum'], ['raw']).refusal(1, ['no'])
  const place = { item_id: 'msg_1', output_index: 1 }
  const annotation = { type: 'url_citation', url: 'https://example.org/' }
  const cut = events.filter(({ type }) => !type.endsWith('item.done'))
  cut.push(
    {
      type: 'response.output_text.delta',
      data: { type: 'response.output_text.delta', ...place, content_index: 2, delta: 'b' },
    },
    {
      type: 'response.output_text.delta',
      data: { type: 'response.output_text.delta', ...place, content_index: 1, delta: 'a' },
    },
    {
      type: 'response.output_text.annotation.added',
      data: { type: 'response.output_text.annotation.added', ...place, content_index: 1, annotation },
    },
  )
  expect(decodeText(sseText(cut)).response.items).toMatchObject([
    { summary: [{ type: 'summary_text', text: 'sum' }], content: [{ type: 'reasoning_text', text: 'raw' }] },
    { content: [{ refusal: 'no' }, { text: 'a', annotations: [annotation] }, { text: 'b' }] },
  ])
})

test('stream and terminal response that tell different texts are noted', () => {
  const decoded = decode((stream) =>
    stream
      .message(0, ['Hello'])
      .end('completed', { output: [messageItem('msg_0', 'completed', [textPart('Bye')])] }),
  )
  expect(anomalyCodes(decoded)).toContain('delta_done_differ')
})

test('a delta after the end of its text gives no text frame', () => {
  const place = { item_id: 'msg_0', output_index: 0, content_index: 0 }
  const decoded = decode((stream) =>
    stream
      .message(0, ['Hello'])
      .event('response.output_text.delta', { ...place, delta: 'Hello' })
      .end(),
  )
  expect(decoded.frames.filter(({ type }) => type === 'output_text_delta').length).toBe(1)
})
