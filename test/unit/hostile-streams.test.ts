import { expect, test } from 'vitest'

import { callItem, sseText, StreamBuilder } from '../../scripts/fixtures/stream-builder.ts'
import { strict } from '../../src/protocol/strict.ts'
import { decodeChunks, decodeText, type Decoded } from '../decode.ts'

function decode(build: (stream: StreamBuilder) => StreamBuilder): Decoded {
  return decodeText(sseText(build(new StreamBuilder().start()).events))
}

const at = { item_id: 'fc_0', output_index: 0 }

test('ids as long as an event do not make the log longer than the stream', () => {
  const long = 'x'.repeat(100_000)
  const decoded = decode((stream) => {
    stream.addItem(0, { ...callItem(0, 'add', '{}'), call_id: long })
    for (let time = 0; time < 50; time += 1)
      stream.doneItem(0, { ...callItem(0, 'add', '{}'), call_id: `y${time}` })
    return stream
  })
  const details = decoded.events.flatMap(({ anomalies }) => anomalies.map(({ detail }) => detail.length))
  expect(Math.max(...details)).toBeLessThanOrEqual(201)
  expect(decoded.response.error?.message.length).toBeLessThanOrEqual(301)
})

test('arguments over the limit are refused wherever they stand, counted in bytes', () => {
  const limits = { argumentsBytesMax: 20 }
  const long = JSON.stringify({ a: 'ä'.repeat(8) })
  for (const build of [
    (stream: StreamBuilder) => stream.addItem(0, callItem(0, 'add', long)).end('completed', { output: [] }),
    (stream: StreamBuilder) => stream.end('completed', { output: [callItem(0, 'add', long)] }),
  ]) {
    const text = sseText(build(new StreamBuilder().start()).events)
    expect(decodeText(text, { limits }).response.error?.code).toBe('response_too_large')
  }
})

test('an event of very many lines is refused before it costs memory', () => {
  const lines = Array.from({ length: 100 }, () => Buffer.from('data:a\n'.repeat(10_000)))
  expect(decodeChunks(lines).response.error?.code).toBe('event_too_large')
})

test('repeated events on a large call cost no more than they are long', () => {
  const args = JSON.stringify({ text: 'x'.repeat(4_000_000) })
  const stream = new StreamBuilder().start().doneItem(0, callItem(0, 'add', args))
  for (let time = 0; time < 2000; time += 1) stream.doneItem(0, callItem(0, 'add', `{"n":${time}}`))
  const before = process.cpuUsage()
  const { response } = decodeText(sseText(stream.end('completed', { output: [] }).events))
  expect(response.calls).toMatchObject([{ disposition: 'bad_arguments' }])
  expect(process.cpuUsage(before).user).toBeLessThan(5_000_000)
})

test('a body may begin with a byte order mark, and its buffers may be used again', () => {
  const bytes = Buffer.from(`\ufeff${JSON.stringify({ id: 'r', status: 'completed', output: [] })}`)
  function* reused(): Generator<Buffer> {
    const buffer = Buffer.alloc(7)
    for (let start = 0; start < bytes.length; start += 7) {
      const length = bytes.copy(buffer, 0, start)
      yield buffer.subarray(0, length)
    }
  }
  expect(decodeChunks(reused(), { shape: 'body' }).response.status).toBe('completed')
})

test('strictly, events have names and a stream ends with [DONE]', () => {
  const { events } = new StreamBuilder().start().message(0, ['x']).end()
  const nameless = events.map(({ data }) => `data: ${JSON.stringify(data)}\n\n`).join('')
  for (const text of [`${nameless}data: [DONE]\n\n`, sseText(events, '')]) {
    expect(decodeText(text).response.status).toBe('completed')
    expect(decodeText(text, { profile: strict }).response.error?.code).toBe('protocol_violation')
  }
  expect(decodeText(sseText(events), { profile: strict }).response.status).toBe('completed')
})

const [read, remove] = [callItem(0, 'read', '', 'in_progress'), callItem(1, 'delete', '', 'in_progress')]

test.for([
  ['with the id of another item', { output_index: 0, item_id: 'fc_1' }],
  ['without an id where two items share the index', { output_index: 0 }],
] as const)('argument deltas %s are nobody’s, and the response is not used', ([, place]) => {
  const { response } = decode((stream) =>
    stream
      .addItem(0, read)
      .addItem('item_id' in place ? 1 : 0, remove)
      .event('response.function_call_arguments.delta', { ...place, delta: '{"path":"x"}' })
      .end('completed', { output: [] }),
  )
  expect(response.error?.code).toBe('protocol_violation')
})

test.for([
  [
    'arguments.done',
    (stream: StreamBuilder) =>
      stream.event('response.function_call_arguments.done', { ...at, arguments: { p: 2 } }),
  ],
  [
    'a delta',
    (stream: StreamBuilder) => stream.event('response.function_call_arguments.delta', { ...at, delta: 23 }),
  ],
] as const)('a call is not run when %s is no text, whatever else was text', ([, odd]) => {
  const { response } = decode((stream) =>
    odd(
      stream
        .addItem(0, callItem(0, 'read', '', 'in_progress'))
        .event('response.function_call_arguments.delta', { ...at, delta: '{"p":1}' }),
    ).end('completed', { output: [] }),
  )
  expect(response.calls).toMatchObject([{ disposition: 'bad_arguments' }])
})

function announced(item: object): Decoded {
  return decode((stream) =>
    stream.addItem(0, { ...callItem(0, 'read', ''), ...item }).end('completed', { output: [] }),
  )
}

test('a call that was announced with arguments that are no text, or as incomplete, is not run', () => {
  expect(announced({ arguments: { p: 1 } }).response.calls).toMatchObject([{ disposition: 'bad_arguments' }])
  expect(announced({ status: 'incomplete' }).response.calls).toMatchObject([{ disposition: 'truncated' }])
})

test('a finished call that is finished again as incomplete is not run', () => {
  const { response } = decode((stream) =>
    stream
      .doneItem(0, callItem(0, 'read', '{}'))
      .doneItem(0, callItem(0, 'read', '{}', 'incomplete'))
      .end('completed', { output: [] }),
  )
  expect(response.calls).toMatchObject([{ disposition: 'bad_arguments' }])
})

test('keep-alive comments do not add up to an event, in chunks of any size', () => {
  const { events } = new StreamBuilder().start().message(0, ['é']).end()
  const pings = ': ping\n\n'.repeat(70_000)
  const text = sseText(events.slice(0, 3), '') + pings + sseText(events.slice(3))
  for (const size of [9, 4096, 1_000_000]) {
    const bytes = Buffer.from(text)
    const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
      bytes.subarray(index * size, (index + 1) * size),
    )
    expect(decodeChunks(chunks).response.status, `chunks of ${size}`).toBe('completed')
  }
})

test('an event of exactly as many lines as are allowed is read, one more is not, for any chunking', () => {
  for (const [lines, code] of [
    [65_536, 'stream_truncated'],
    [65_537, 'event_too_large'],
  ] as const) {
    const bytes = Buffer.from(`data: ["type"\n${'data:\n'.repeat(lines - 2)}data: ]\n\n`)
    for (const size of [1000, bytes.length]) {
      const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
        bytes.subarray(index * size, (index + 1) * size),
      )
      expect(decodeChunks(chunks).response.error?.code, `${lines} lines in chunks of ${size}`).toBe(code)
    }
  }
})

test('pairing with a terminal response of other ids is not quadratic', () => {
  const count = 9000
  const long = 'x'.repeat(500)
  const stream = new StreamBuilder().start()
  for (let index = 0; index < count; index += 1)
    stream.doneItem(index, { ...callItem(index, 'add', '{}'), call_id: `${long}${index}` })
  const output = Array.from({ length: count }, (_, index) => ({
    ...callItem(index, 'add', '{}'),
    call_id: `${long}y${index}`,
    id: `z${index}`,
  }))
  const text = sseText(stream.end('completed', { output }).events)
  const before = process.cpuUsage()
  const { response } = decodeText(text)
  expect(response.error?.code).toBe('protocol_violation')
  expect(process.cpuUsage(before).user).toBeLessThan(5_000_000)
})

test('a body of a million chunks is held in little more than its bytes', () => {
  const bytes = Buffer.from(
    JSON.stringify({ id: 'r', status: 'completed', output: [], pad: 'x'.repeat(1_000_000) }),
  )
  const one = Buffer.alloc(1)
  function* single(): Generator<Buffer> {
    for (const byte of bytes) {
      one[0] = byte
      yield one
    }
  }
  const before = process.memoryUsage().heapUsed
  expect(decodeChunks(single(), { shape: 'body' }).response.status).toBe('completed')
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(64 * 1024 * 1024)
})
