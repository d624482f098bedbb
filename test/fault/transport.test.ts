import { Buffer } from 'node:buffer'

import { expect, test } from 'vitest'

import { callItem, sseText, StreamBuilder } from '../../scripts/fixtures/stream-builder.ts'
import { eventData, eventText } from '../../src/frames/event-data.ts'
import { STREAM_LIMITS } from '../../src/stream/stream-limits.ts'
import { decodeChunks, decodeFixture, decodeText, logText, readStream } from '../decode.ts'

const MIB = 1024 * 1024

function text(...pieces: string[]): string {
  return sseText(new StreamBuilder().start().message(0, pieces).end().events)
}

test('fault P10: a stream cut in two at any byte gives the frames of the whole', () => {
  const bytes = readStream('unicode')
  const whole = logText(decodeChunks([bytes]).frames)
  for (let at = 0; at <= bytes.length; at += 1) {
    const { frames } = decodeChunks([bytes.subarray(0, at), bytes.subarray(at)])
    expect(logText(frames) === whole, `cut at ${at}`).toBe(true)
  }
})

test('fault P10: bytes that are not UTF-8 are kept as they came and said to be so', () => {
  const bytes = Buffer.concat([
    Buffer.from('data: {"type":"x","y":"'),
    Buffer.from([0xc3, 0x28]),
    Buffer.from('"}\n\n'),
  ])
  const [event] = decodeChunks([bytes]).events
  expect(event?.raw).toBeUndefined()
  expect(Buffer.from(event?.raw_base64 ?? '', 'base64')).toEqual(bytes.subarray(6, -2))
  expect(event?.anomalies.map(({ code }) => code)).toContain('invalid_utf8')
  expect(event && eventData(event)).toEqual({ type: 'x', y: '\ufffd(' })
})

test('fault P10: a stream that ends inside a character keeps the bytes it had', () => {
  const last = decodeFixture('cut-inside-character').events.at(-1)
  expect(last?.status).toBe('invalid_json')
  expect(Buffer.from(last?.raw_base64 ?? '', 'base64').at(-1)).toBe(0xc3)
})

test('fault P11: line ends of any kind, a BOM and comments change nothing about the events', () => {
  const plain = text('Grün ', 'ist ', '緑.')
  const expected = decodeText(plain).events.map(eventText)
  const variants = [
    plain.replaceAll('\n', '\r\n'),
    plain.replaceAll('\n', '\r'),
    plain.replaceAll('\n\n', '\r\n\n'),
    `\ufeff${plain}`,
    `: ka\n\n${plain.replaceAll('\n\n', '\n\n: ka\n\n')}`,
  ]
  for (const variant of variants) {
    const single = Array.from(Buffer.from(variant), (byte) => Uint8Array.of(byte))
    expect(decodeChunks(single).events.map(eventText)).toEqual(expected)
  }
})

test('fault P12: 200 MB without a line end stop the reader at the event limit', () => {
  const piece = Buffer.alloc(MIB, 'x')
  let fed = 0
  function* endless(): Generator<Buffer> {
    yield Buffer.from('data: ')
    for (; fed < 200; fed += 1) yield piece
  }
  const { response, events, isReadToEnd } = decodeChunks(endless(), {
    limits: { responseBytesMax: 300 * MIB },
  })
  expect(isReadToEnd).toBe(false)
  expect(response.error?.code).toBe('event_too_large')
  expect(events).toEqual([])
  expect(fed).toBeLessThanOrEqual(STREAM_LIMITS.eventBytesMax / MIB + 1)
})

test('fault P12: an event without a blank line is bounded too, however many lines it has', () => {
  function* endless(): Generator<Buffer> {
    for (let sent = 0; sent < 64; sent += 1) yield Buffer.from(`data: ${'x'.repeat(MIB)}\n`)
  }
  const { response } = decodeChunks(endless(), { limits: { responseBytesMax: 300 * MIB } })
  expect(response.error?.code).toBe('event_too_large')
})

test('fault P12: the event limit falls on the same event for any chunking', () => {
  const fits = JSON.stringify({ type: 'a', x: 'x'.repeat(50) })
  const tooLong = JSON.stringify({ type: 'a', x: 'x'.repeat(51) })
  const stream = Buffer.from(`data: ${fits}\n\ndata: ${tooLong}\n\ndata: ${fits}\n\n`)
  const limits = { eventBytesMax: fits.length }
  for (let size = 1; size <= stream.length; size += 1) {
    const chunks = Array.from({ length: Math.ceil(stream.length / size) }, (_, at) =>
      stream.subarray(at * size, (at + 1) * size),
    )
    const { events, response } = decodeChunks(chunks, { limits })
    expect(
      events.map(({ raw }) => raw),
      `chunks of ${size}`,
    ).toEqual([fits])
    expect(response.error?.code).toBe('event_too_large')
  }
})

test('fault P13: a response over the byte limit is stopped, the events before it kept', () => {
  const stream = Buffer.from(text('one ', 'two'))
  const { response, isReadToEnd } = decodeChunks([stream], {
    limits: { responseBytesMax: stream.length - 20 },
  })
  expect(response.error?.code).toBe('response_too_large')
  expect(isReadToEnd).toBe(false)
  expect(decodeChunks([stream], { limits: { responseBytesMax: stream.length } }).response.status).toBe(
    'completed',
  )
})

test('fault P13: a million tiny deltas are read, one more is too many', () => {
  const delta = Buffer.from(
    'data: {"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"a"}\n\n',
  )
  const block = Buffer.concat(Array.from({ length: 1000 }, () => delta))
  function* million(): Generator<Buffer> {
    for (let sent = 0; sent < 1000; sent += 1) yield block
    yield delta
  }
  const limits = { responseBytesMax: 200 * MIB }
  const { response, events } = decodeChunks(million(), { limits })
  expect(response.error?.code).toBe('response_too_large')
  expect(events.length).toBe(STREAM_LIMITS.eventsMax)
}, 30_000)

test('fault P13: 100 MB of arguments for one call stop at the argument limit', () => {
  const piece = 'x'.repeat(MIB)
  const added = new StreamBuilder().start().addItem(0, callItem(0, 'add', '', 'in_progress')).events
  let sent = 0
  function* endless(): Generator<Buffer> {
    yield Buffer.from(sseText(added, ''))
    for (; sent < 100; sent += 1) {
      const data = {
        type: 'response.function_call_arguments.delta',
        item_id: 'fc_0',
        output_index: 0,
        delta: piece,
      }
      yield Buffer.from(`data: ${JSON.stringify(data)}\n\n`)
    }
  }
  const { response } = decodeChunks(endless(), { limits: { responseBytesMax: 200 * MIB } })
  expect(response.error?.code).toBe('response_too_large')
  expect(sent).toBe(STREAM_LIMITS.argumentsBytesMax / MIB)
})

test('fault P13: a response of endless items stops at the item limit', () => {
  const stream = Array.from(
    { length: 20_000 },
    (_, at) => `data: {"type":"response.output_item.added","output_index":${at},"item":{"type":"x"}}\n\n`,
  )
  expect(decodeText(stream.join('')).response.error?.code).toBe('response_too_large')
})
