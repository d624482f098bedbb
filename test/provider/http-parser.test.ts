import { Buffer } from 'node:buffer'

import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import type { HttpHead } from '../../src/provider/http-head.ts'
import { ResponseParser, type ResponseSink } from '../../src/provider/http-parser.ts'

interface Read {
  readonly heads: readonly HttpHead[]
  readonly body: string
  /** How often bytes of the body were told. */
  readonly pieces: number
  readonly isDone: boolean
  readonly reuseMs: number
}

/** Reads a response from pieces, each in a buffer of its own that is overwritten afterwards; null: and then its end. */
function read(...pieces: readonly (string | Buffer | null)[]): Read {
  const heads: HttpHead[] = []
  const told: Buffer[] = []
  const parser = new ResponseParser()
  parser.begin({
    onHead: (head) => heads.push(head),
    onBody: (bytes) => told.push(Buffer.from(bytes)),
  })
  for (const piece of pieces) {
    if (piece === null) {
      parser.end()
      continue
    }
    const bytes = Buffer.from(typeof piece === 'string' ? Buffer.from(piece, 'latin1') : piece)
    parser.feed(bytes)
    bytes.fill('!')
  }
  const body = Buffer.concat(told).toString('latin1')
  return { heads, body, pieces: told.length, isDone: parser.isDone, reuseMs: parser.reuseMs }
}

/** A response with these lines in its head, and this behind. */
function response(lines: readonly string[], rest = '', first = 'HTTP/1.1 200 OK'): string {
  return [first, ...lines, '', rest].join('\r\n')
}

const CHUNKED = 'transfer-encoding: chunked'

function chunks(rest: string): string {
  return response([CHUNKED], rest)
}

const LENGTH = response(['content-type: text/plain', 'Content-Length: 11'], 'hello world')
const UNTIL_CLOSE = response(['content-type: text/plain'], 'hello world')
const IN_CHUNKS = response(
  ['content-type: text/plain', 'Transfer-Encoding: Chunked'],
  '5;name="a value";b\r\nhello\r\n001  \r\n \r\n5 ; c\r\nworld\r\n0;last\r\nx-sum: 1\r\ny: 2\r\n\r\n',
)
const HINTS =
  'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </a>\r\ncontent-length: 3\r\n\r\n'

const WHOLE: readonly (readonly [string, string, null[]])[] = [
  ['a length', LENGTH, []],
  ['chunks, with extensions and trailers', IN_CHUNKS, []],
  ['no end but that of the connection', UNTIL_CLOSE, [null]],
  ['heads before its head', HINTS + LENGTH, []],
  ['heads before its head, and chunks', HINTS + IN_CHUNKS, []],
]

function shown({ heads, body, isDone }: Read): unknown {
  const told = heads.map(({ status, headers }) => [status, headers.get('content-type'), headers.get('link')])
  return [told, body, isDone]
}

test.for(WHOLE)('a response with %s is the same wherever it is cut', ([, text, end]) => {
  const whole = shown(read(text, ...end))
  expect(whole).toEqual([[[200, 'text/plain', null]], 'hello world', true])
  expect(shown(read(...text.split(''), ...end))).toEqual(whole)
  for (let first = 1; first < text.length; first += 1) {
    for (let second = first; second < text.length; second += 7) {
      const pieces = [text.slice(0, first), text.slice(first, second), text.slice(second)]
      expect(shown(read(...pieces, ...end))).toEqual(whole)
    }
  }
})

test('what came at once is told at once, however many chunks it was in', () => {
  expect(read(IN_CHUNKS)).toMatchObject({ body: 'hello world', pieces: 1 })
  const [head = '', body = ''] = IN_CHUNKS.split('\r\n\r\n', 2)
  expect(read(`${head}\r\n\r\n`, `${body}\r\n\r\n`)).toMatchObject({ body: 'hello world', pieces: 1 })
})

test('any body in any chunks, cut anywhere, is read as it was', () => {
  const chunk = fc.record({
    data: fc.uint8Array({ minLength: 1, maxLength: 40 }),
    extension: fc.constantFrom('', ';a', ' ;a="b;c"', '  ', '\t'),
    zeros: fc.constantFrom('', '0', '000'),
    isUpper: fc.boolean(),
  })
  const trailers = fc.array(fc.constantFrom('x: 1', 'a-long-name: with a long value', 'y:'), { maxLength: 3 })
  const cuts = fc.array(fc.nat({ max: 2000 }), { maxLength: 12 })
  fc.assert(
    fc.property(fc.array(chunk, { maxLength: 12 }), trailers, cuts, (parts, lines, places) => {
      const written = parts.map(({ data, extension, zeros, isUpper }) => {
        const size = data.length.toString(16)
        const text = Buffer.from(data).toString('latin1')
        return `${zeros}${isUpper ? size.toUpperCase() : size}${extension}\r\n${text}\r\n`
      })
      const text = chunks(`${written.join('')}0\r\n${lines.map((line) => `${line}\r\n`).join('')}\r\n`)
      const at = [0, ...places.map((place) => place % text.length), text.length].sort((a, b) => a - b)
      const pieces = at.slice(1).map((end, index) => text.slice(at[index], end))
      const plain = Buffer.concat(parts.map(({ data }) => data)).toString('latin1')
      expect(read(...pieces)).toMatchObject({ body: plain, isDone: true })
    }),
    { numRuns: 500 },
  )
})

test.for([
  ['204', 'HTTP/1.1 204 No Content', []],
  ['304', 'HTTP/1.1 304 Not Modified', ['content-length: 5']],
  ['200 of no length', 'HTTP/1.1 200', ['content-length: 0']],
] as const)('a %s is whole with its head', ([, first, lines]) => {
  expect(read(response(lines, '', first))).toMatchObject({ isDone: true, body: '' })
})

test('a header that comes more than once is one with commas, and only blanks and tabs around it are left out', () => {
  const [head] = read(
    response(['Via: a', 'x:', 'VIA: \t b c \t', 'y: \u00a0z\u00a0', 'content-length: 0']),
  ).heads
  expect(['via', 'x', 'y', 'none'].map((name) => head?.headers.get(name) ?? null)).toEqual([
    'a, b c',
    '',
    '\u00a0z\u00a0',
    null,
  ])
})

test('a header is known by its whole name, and not by a value that looks like one', () => {
  const lines = [
    'x-content-length: 3',
    'note: content-length: 4',
    'keep-alive-not: timeout=9',
    'content-length: 5',
  ]
  const { heads, body, isDone } = read(response(lines, 'hello'))
  expect([heads[0]?.headers.get('content-length'), body, isDone]).toEqual(['5', 'hello', true])
  expect(heads[0]?.headers.get('keep-alive')).toBeNull()
})

test('a length that is said twice is one when it is the same', () => {
  const twice = ['content-length: 5', 'content-length: 5 ,\t5']
  expect(read(response(twice, 'hello'))).toMatchObject({ body: 'hello', isDone: true })
})

const INVALID = 'HTTP_INVALID'
const TOO_LARGE = 'HTTP_HEAD_TOO_LARGE'

/** Whatever is refused, and when: with the last byte of it. */
const REFUSED: readonly (readonly [string, string, string])[] = [
  ['a status in another notation', response([], '', 'HTTP/1.1 1e2'), INVALID],
  ['a length and an encoding', response([CHUNKED, 'content-length: 5']), INVALID],
  ['a length that is no number', response(['content-length: 5x']), INVALID],
  ['a length below nothing', response(['content-length: -5']), INVALID],
  ['a length with a sign', response(['content-length: +5']), INVALID],
  ['an empty length', response(['content-length:']), INVALID],
  ['a length over what can be counted', response(['content-length: 9007199254740993']), INVALID],
  ['lengths that differ', response(['content-length: 5', 'content-length: 6']), INVALID],
  ['lengths that differ in one line', response(['content-length: 5, 6']), INVALID],
  ['a length with a space of another kind', response(['content-length: \u00a05']), INVALID],
  ['another encoding for transfer', response(['transfer-encoding: gzip']), INVALID],
  ['two encodings for transfer', response(['transfer-encoding: gzip, chunked']), INVALID],
  ['chunks within chunks', response([CHUNKED, CHUNKED]), INVALID],
  ['an encoding with a stray character', response(['transfer-encoding: \vchunked']), INVALID],
  ['an encoding with a space of another kind', response(['transfer-encoding: \u00a0chunked']), INVALID],
  ['a bare line end', response(['x: 1\ny: 2', 'content-length: 0']), INVALID],
  ['lines that end in a line feed alone', 'HTTP/1.1 200 OK\nx: 1\n\n', INVALID],
  ['a blank line behind a line feed alone', 'HTTP/1.1 200 OK\r\nx: 1\n\r\n', INVALID],
  ['a stray return', response(['x: 1\ry: 2', 'content-length: 0']), INVALID],
  ['a return before a line end', response(['x: 1\r', 'content-length: 0']), INVALID],
  ['a NUL', response(['x: 1\0', 'content-length: 0']), INVALID],
  ['a control character', response(['x: 1\v2', 'content-length: 0']), INVALID],
  ['a folded line', response(['x: 1', ' content-length: 0']), INVALID],
  ['a header without a name', response([': 1', 'content-length: 0']), INVALID],
  ['a header with a space behind its name', response(['content-length : 0']), INVALID],
  ['a line that is no header', response(['hello', 'content-length: 0']), INVALID],
  ['a status that is none', response([], '', 'HTTP/1.1 20 OK'), INVALID],
  ['a status of four digits', response([], '', 'HTTP/1.1 2000 OK'), INVALID],
  ['HTTP of another kind', response([], '', 'HTTP/1.2 200 OK'), INVALID],
  ['HTTP/2, by its first bytes', 'HTTP/2', INVALID],
  ['the frames of HTTP/2, by their first byte', '\0', INVALID],
  ['a greeting, by its first byte', 'S', INVALID],
  ['a line before the head', '\r', INVALID],
  ['a change to another protocol', response(['upgrade: x'], '', 'HTTP/1.1 101 Switching Protocols'), INVALID],
  ['garbage after a head before the head', 'HTTP/1.1 100 Continue\r\n\r\nx', INVALID],
  ['a head that is too large', `HTTP/1.1 200 OK\r\nx: ${'x'.repeat(16_384 - 20 + 4)}`, TOO_LARGE],
  ['a chunk without a size', chunks('\r'), INVALID],
  ['a chunk of a size that is no number', chunks('5g'), INVALID],
  ['a chunk of a size with a sign', chunks('-'), INVALID],
  ['a chunk of a size as a program writes it', chunks('0x'), INVALID],
  ['a chunk of a size with a blank before', chunks(' '), INVALID],
  ['a chunk of two sizes', chunks('5 5'), INVALID],
  ['a chunk whose size ends with a bare line end', chunks('5\n'), INVALID],
  ['a chunk whose size ends with a stray return', chunks('5\r5'), INVALID],
  ['a chunk of a size over what can be counted', chunks('20000000000000'), INVALID],
  ['a chunk of a size of too many digits', chunks('0000000000000005'), INVALID],
  ['a chunk that is longer than its size', chunks('5\r\nhello!'), INVALID],
  ['a chunk without the second half of its line end', chunks('5\r\nhello\r5'), INVALID],
  ['a bare line end in an extension', chunks('5;a\n'), INVALID],
  ['a stray return in an extension', chunks('5;a\rb'), INVALID],
  ['an extension without end', chunks(`5;${'x'.repeat(16_385)}`), TOO_LARGE],
  ['blanks without end behind a size', chunks(`5${' '.repeat(16_385)}`), TOO_LARGE],
  ['a trailer without end', chunks(`0\r\nx: ${'x'.repeat(16_381)}`), TOO_LARGE],
  ['trailers without end', chunks(`0\r\n${'x: 1\r\n'.repeat(3276)}x: 1`), TOO_LARGE],
  ['a bare line end in the trailers', chunks('0\r\nx: 1\n'), INVALID],
  ['a bare line end instead of trailers', chunks('0\r\n\n'), INVALID],
  ['a stray return in the trailers', chunks('0\r\nx: 1\ry'), INVALID],
  ['a stray return at the end', chunks('0\r\n\rx'), INVALID],
]

test.for([
  ['its length', response(['content-length: 5'], 'hello!'), 'hello'],
  ['its chunks', chunks('5\r\nhello\r\n0\r\n\r\nx'), 'hello'],
  ['a head that has no body', response([], 'x', 'HTTP/1.1 204 No Content'), ''],
] as const)(
  'what comes behind %s takes nothing from the response, and its connection is not used again',
  ([, text, body]) => {
    expect(read(text)).toMatchObject({ body, isDone: true, reuseMs: 0 })
    expect(read(text.slice(0, -1))).toMatchObject({ body, isDone: true, reuseMs: 4000 })
  },
)

test.for(REFUSED)('a response with %s is refused, and with its last byte', ([, text, code]) => {
  expect(() => read(text)).toThrow(expect.objectContaining({ name: 'HttpError', code }))
  const [before, last] = [text.slice(0, -1), text.slice(-1)]
  expect(() => read(before)).not.toThrow()
  expect(() => read(before, last)).toThrow(expect.objectContaining({ code }))
  expect(() => read(...text.split(''))).toThrow(expect.objectContaining({ code }))
})

test('a head of just the size that is read is read wherever it is cut', () => {
  const start = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\nx: '
  const largest = `${start}${'x'.repeat(16_384 - start.length)}\r\n\r\n`
  for (let at = largest.length - 6; at <= largest.length; at += 1) {
    expect(read(largest.slice(0, at), largest.slice(at))).toMatchObject({ isDone: true })
  }
})

test('a head that is small is read however much comes with it', () => {
  const body = 'x'.repeat(60_000)
  expect(read(response(['content-length: 60000'], body)).body).toBe(body)
})

test('what stands beside the chunks of a long stream does not add up', () => {
  const many = '1      \r\nx\r\n1;extension\r\ny\r\n'.repeat(5000)
  expect(read(chunks(`${many}0\r\n\r\n`))).toMatchObject({ body: 'xy'.repeat(5000), isDone: true })
})

test.for([
  ['nothing', ''],
  ['half a head', LENGTH.slice(0, 30)],
  ['a head before the head', HINTS],
  ['a head and no body', LENGTH.slice(0, -11)],
  ['half a body', LENGTH.slice(0, -4)],
  ['half a chunk', IN_CHUNKS.slice(0, IN_CHUNKS.indexOf('hello') + 2)],
  ['a chunk and no other', chunks('5\r\nhello\r\n')],
  ['all chunks but not their end', chunks('5\r\nhello\r\n0\r\n')],
  ['half of the last line end', chunks('5\r\nhello\r\n0\r\n\r')],
] as const)('a connection that ends after %s has cut the response off', ([, text]) => {
  expect(() => read(text)).not.toThrow()
  expect(() => read(text, null)).toThrow(expect.objectContaining({ name: 'HttpError', code: 'HTTP_CUT' }))
})

test('a connection that ends after the response has cut nothing off', () => {
  expect(read(LENGTH, null).isDone).toBe(true)
  expect(read(IN_CHUNKS, null).isDone).toBe(true)
  expect([read(UNTIL_CLOSE).isDone, read(UNTIL_CLOSE, null).isDone]).toEqual([false, true])
})

const NONE = 'content-length: 0'

test.for([
  ['nothing about it', response([NONE]), 4000],
  ['connection: keep-alive', response([NONE, 'connection: keep-alive']), 4000],
  ['a time', response([NONE, 'keep-alive: timeout=30, max=100']), 29_000],
  ['a time after something else', response([NONE, 'Keep-Alive: max=5, Timeout=7']), 6000],
  ['a time that is too long', response([NONE, 'keep-alive: timeout=999999999']), 600_000],
  ['a time that is over at once', response([NONE, 'keep-alive: timeout=1']), 0],
  ['no time at all', response([NONE, 'keep-alive: timeout=0']), 0],
  ['a word that only ends like that of a time', response([NONE, 'keep-alive: xtimeout=9']), 4000],
  ['connection: close', response([NONE, 'connection: Close']), 0],
  ['close among others', response([NONE, 'connection: x, close', 'keep-alive: timeout=30']), 0],
  ['a word that has close in it', response([NONE, 'connection: closer']), 4000],
  ['HTTP/1.0', response([NONE, 'connection: keep-alive'], '', 'HTTP/1.0 200 OK'), 0],
  ['chunks', chunks('0\r\n\r\n'), 4000],
] as const)('a response with %s leaves its connection for as long as it should', ([, text, reuseMs]) => {
  expect(read(text)).toMatchObject({ isDone: true, reuseMs })
})

test('a response that ends with its connection leaves none', () => {
  expect(read(UNTIL_CLOSE, null)).toMatchObject({ isDone: true, reuseMs: 0 })
})

test('a parser that lets go of a response in the middle reads the next one from its head', () => {
  const bodies: string[] = []
  const parser = new ResponseParser()
  const sink = (onHead: () => void): ResponseSink => ({
    onHead,
    onBody: (bytes) => bodies.push(bytes.toString('latin1')),
  })
  const head = 'HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\n'
  // As when whoever hears of the head wants nothing of the body.
  parser.begin(sink(() => parser.clear()))
  parser.feed(Buffer.from(`${head}left`))
  expect(bodies).toEqual([])
  parser.begin(sink(() => undefined))
  expect(parser.isDone).toBe(false)
  parser.feed(Buffer.from(`${head}read`))
  expect([bodies, parser.isDone, parser.reuseMs > 0]).toEqual([['read'], true, true])
})

function ofLength(length: string): string {
  return response([`content-length: ${length}`, 'x-a: 1'], 'hello world')
}

test('a head that is the one before to the letter means the same, and any other is read for itself', () => {
  const [first, again, other] = [read(ofLength('5')), read(ofLength('5')), read(ofLength('6'))]
  expect([first.body, again.body, other.body]).toEqual(['hello', 'hello', 'hello '])
  expect(again.heads[0]?.headers.get('x-a')).toBe('1')
  // One that was refused is refused again, and what came before it is still known.
  expect(() => read(ofLength('5x'))).toThrow('its length is no number')
  expect(() => read(ofLength('5x'))).toThrow('its length is no number')
  expect(read(ofLength('5')).body).toBe('hello')
})
