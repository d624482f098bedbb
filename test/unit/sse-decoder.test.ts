import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import { createSseDecoder, type SseSink } from '../../src/stream/sse-decoder.ts'
import { STREAM_LIMITS, type StreamLimits } from '../../src/stream/stream-limits.ts'

interface Read {
  readonly messages: readonly { name: string | null; text: string; base64: string | null }[]
  readonly fault: { readonly code: string; readonly message: string } | null
  /** What the decoder said after each chunk. */
  readonly goesOn: readonly boolean[]
}

function read(
  chunks: readonly (string | Uint8Array)[],
  limits: Partial<StreamLimits> = {},
  run?: SseSink['run'],
): Read {
  const messages: { name: string | null; text: string; base64: string | null }[] = []
  const decoder = createSseDecoder(
    { ...STREAM_LIMITS, ...limits },
    {
      message: (name, text, base64) => messages.push({ name, text, base64 }),
      ...(run !== undefined && { run }),
    },
  )
  const goesOn = chunks.map((chunk) => decoder.feed(typeof chunk === 'string' ? Buffer.from(chunk) : chunk))
  decoder.end()
  return { messages, fault: decoder.fault, goesOn }
}

function texts({ messages }: Read): readonly string[] {
  return messages.map(({ text }) => text)
}

test('events that come one at a time are read as the text that they are', () => {
  const sent = ['plain', 'grün', '東京', 'again plain', '🎈']
  const { messages, fault } = read(sent.map((text) => `event: ${text}\ndata: ${text}\n\n`))
  expect(messages).toEqual(sent.map((text) => ({ name: text, text, base64: null })))
  expect(fault).toBeNull()
})

test.for([
  ['in its data', 'data: grü', 'n\n\n'],
  ['before its blank line', 'data: grün\n', '\n'],
  ['before both its line ends', 'data: grün', '\n\n'],
  ['before a blank line of its own', 'data: grün', '\r\n\r\n'],
  ['after a line of it', 'data: gr\u00fcn\nid: ü', '\n\n'],
] as const)('an event after others may be cut %s', ([, start, end]) => {
  expect(texts(read(['data: 1\n\n', start, end, 'data: ö\n\n']))).toEqual(['1', 'grün', 'ö'])
})

test('a character that is cut between two chunks is whole, wherever the event stands', () => {
  const bytes = Buffer.from('data: 東\n\n')
  const chunks = [Buffer.from('data: 1\n\n'), bytes.subarray(0, 7), bytes.subarray(7), 'data: ü\n\n']
  expect(read(chunks).messages.map(({ text, base64 }) => [text, base64])).toEqual([
    ['1', null],
    ['東', null],
    ['ü', null],
  ])
})

test('an event that is not UTF-8 is kept in its bytes, and the ones around it are text', () => {
  const broken = Buffer.from([0x61, 0xff, 0x62])
  const chunks = [
    'data: ä\n\n',
    Buffer.concat([Buffer.from('data: '), broken, Buffer.from('\n\n')]),
    'data: ö\n\n',
  ]
  expect(read(chunks).messages).toEqual([
    { name: null, text: 'ä', base64: null },
    { name: null, text: 'a\ufffdb', base64: broken.toString('base64') },
    { name: null, text: 'ö', base64: null },
  ])
})

test('a replacement character that was sent is text like any other', () => {
  for (const chunks of [
    ['data: \ufffd\n\n'],
    ['data: 1\n\n', 'data: \ufffd\n\n'],
    ['data: \ufffd', '\n\n'],
  ]) {
    expect(read(chunks).messages.at(-1)).toEqual({ name: null, text: '\ufffd', base64: null })
  }
})

test.for([1000, 64 * 1024, 64 * 1024 + 1, 200_000])(
  'a text of %i bytes with characters of two is whole',
  (bytes) => {
    const text = 'ä'.repeat(Math.floor(bytes / 2)) + 'x'.repeat(bytes % 2)
    expect(texts(read([`data: ${text}\n\n`]))).toEqual([text])
  },
)

test.for([
  ['ASCII', 'x'.repeat(10)],
  ['characters of two bytes', 'ä'.repeat(5)],
] as const)('an event of as many bytes as are allowed is read, one more is not: %s', ([, text]) => {
  const around = ['data: 1\n\n', `data: ${text}\n\n`, 'data: 2\n\n']
  expect(texts(read(around, { eventBytesMax: 10 }))).toEqual(['1', text, '2'])
  const { messages, fault, goesOn } = read(around, { eventBytesMax: 9 })
  expect(messages.map((message) => message.text)).toEqual(['1'])
  expect(fault).toMatchObject({
    code: 'event_too_large',
    message: 'one event is larger than 9 bytes or 65536 lines',
  })
  expect(goesOn).toEqual([true, false, false])
})

test('the name and the id of an event count towards its bytes', () => {
  const event = 'event: abcde\nid: fghij\ndata: klmno\n\n'
  expect(texts(read([event], { eventBytesMax: 15 }))).toEqual(['klmno'])
  expect(read([event], { eventBytesMax: 14 }).fault?.code).toBe('event_too_large')
})

test('a response of as many bytes as are allowed is read, of one more the events that fit', () => {
  const event = 'data: abc\n\n'
  const whole = read([event, event], { responseBytesMax: 2 * event.length })
  expect([texts(whole), whole.fault, whole.goesOn]).toEqual([['abc', 'abc'], null, [true, true]])
  const limits = { responseBytesMax: 2 * event.length - 1 }
  for (const chunks of [[event, event, event], [event + event + event]]) {
    const cut = read(chunks, limits)
    expect(texts(cut)).toEqual(['abc'])
    expect(cut.fault).toMatchObject({
      code: 'response_too_large',
      message: `the response is larger than ${limits.responseBytesMax} bytes`,
    })
  }
  expect(read([event, event, event], limits).goesOn).toEqual([true, false, false])
})

test.for(['\n', '\r', '\r\n'])('lines that end in %j and hold nothing do not add up to an event', (end) => {
  const comment = `: still here${end}${end}`.repeat(1000)
  const { messages, fault } = read([...Array.from({ length: 160 }, () => comment), `data: x${end}${end}`])
  expect(fault).toBeNull()
  expect(messages.map(({ text }) => text)).toEqual(['x'])
})

test.for(['\n', '\r', '\r\n'])('comments that end in %j and never end an event are bounded', (end) => {
  const comments = `: still here${end}`.repeat(1000)
  expect(read(Array.from({ length: 160 }, () => comments)).fault?.code).toBe('event_too_large')
})

test('an event of 65,536 lines is read, one of 65,537 is not', () => {
  expect(texts(read(['data:\n'.repeat(65_536), '\n']))).toEqual(['\n'.repeat(65_535)])
  expect(read(['data:\n'.repeat(65_537), '\n']).fault?.code).toBe('event_too_large')
})

test('an event larger than what the parser is fed at once is whole, with line ends of any kind', () => {
  const text = 'abcdefghij'.repeat(5000)
  for (const end of ['\n', '\r', '\r\n']) {
    expect(texts(read([`data: ${text}${end}data: ü${end}${end}data: 2${end}${end}`]))).toEqual([
      `${text}\nü`,
      '2',
    ])
  }
})

// What streams are made of, as most write it and as some do.
const PIECES = [
  'event: response.created\ndata: {"a":1}\n\n',
  'event: long.name.of.an.event\ndata: {"text":"one line of some length"}\n\n',
  'data: [DONE]\n\n',
  'data: \n\n',
  'data:tight\n\n',
  'data:  two spaces\n\n',
  'event: \ndata: no name\n\n',
  'event:  spaced\ndata: x\n\n',
  'event: a\ndata: one\ndata: two\n\n',
  'event: a\nevent: b\ndata: x\n\n',
  'event: a\nid: 7\ndata: x\n\n',
  'data: x\nevent: late\n\n',
  'event: only a name\n\n',
  ': a comment\n\n',
  ': a comment\nevent: a\ndata: x\n\n',
  'retry: 10\n\n',
  'nonsense\n\n',
  '\n',
  '\ufeff',
  '\ufeffevent: a\ndata: x\n\n',
  'event: a\r\ndata: x\r\n\r\n',
  'event: a\rdata: x\r\r',
  'event: a\ndata: x\r\n\n',
  'event: gr\u00fcn\ndata: \u6771\u4eac\n\n',
  'event: a\ndata: cut',
  'data: ',
  'event: ',
]

test('a stream is the same messages whether runs may be read off it or not, for any of its forms and any chunking', () => {
  const streams = fc.array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 8 })
  fc.assert(
    fc.property(streams, fc.array(fc.nat(60), { maxLength: 12 }), (pieces, cuts) => {
      const bytes = Buffer.from(pieces.join(''))
      const chunks: Uint8Array[] = []
      let from = 0
      for (const cut of cuts) {
        chunks.push(bytes.subarray(from, from + cut))
        from += cut
      }
      chunks.push(bytes.subarray(from))
      expect(read(chunks, {}, (_, at) => at)).toEqual(read(chunks))
    }),
    { numRuns: 3000 },
  )
})

const BROKEN = Buffer.concat([
  Buffer.from('event: a\ndata: '),
  Buffer.from([0xff, 0xe6]),
  Buffer.from('\n\n'),
])
const NOT_ASCII: readonly Buffer[] = [
  BROKEN,
  ...[
    'event: a\ndata: 東京\n\n',
    'data: 🎈\n\n',
    ': bemerkt für später\n\n',
    'id: ü\n',
    'data: ö\ndata: two\n\n',
    'data: ä\r\n\n',
    'data: \ufffd\n\n',
  ].map((text) => Buffer.from(text)),
]

test('a stream that is not all ASCII is the same messages in any chunking as byte by byte', () => {
  const piece = fc.oneof(
    fc.constantFrom(...NOT_ASCII),
    fc.constantFrom(...PIECES.map((text) => Buffer.from(text))),
  )
  const streams = fc.array(piece, { minLength: 1, maxLength: 12 })
  fc.assert(
    fc.property(streams, fc.array(fc.nat(120), { maxLength: 6 }), (pieces, cuts) => {
      const bytes = Buffer.concat(pieces)
      const places = [
        0,
        ...cuts.map((cut) => Math.min(cut, bytes.length)).sort((a, b) => a - b),
        bytes.length,
      ]
      const chunks = places.map((from, at) => bytes.subarray(from, places[at + 1] ?? bytes.length))
      const { messages } = read(Array.from(bytes, (byte) => Uint8Array.of(byte)))
      expect(read(chunks).messages).toEqual(messages)
      expect(read(chunks, {}, (_, at) => at).messages).toEqual(messages)
    }),
    { numRuns: 3000 },
  )
})

test('an event that is too large is refused where runs may be read as well', () => {
  const limits = { eventBytesMax: 40 }
  const chunks = ['event: a\ndata: short\n\n', `event: a\ndata: ${'x'.repeat(60)}\n\n`, 'data: after\n\n']
  const whole = read(chunks, limits, (_, at) => at)
  expect(whole).toEqual(read(chunks, limits))
  expect(whole.fault?.code).toBe('event_too_large')
})

test('a byte order mark is one at the very start only, also where the first events were read as they stand', () => {
  const chunks = ['event: a\ndata: 1\n\n', '\ufeffevent: b\ndata: 2\n\n']
  const { messages } = read(chunks, {}, (_, at) => at)
  expect(messages.map(({ name, text }) => [name, text])).toEqual([
    ['a', '1'],
    [null, '2'],
  ])
})
