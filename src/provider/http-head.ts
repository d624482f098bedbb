import type { ResponseHeaders } from './transport.ts'

/** Why what came back is no HTTP that is read here. */
export class HttpError extends Error {
  readonly code: 'HTTP_INVALID' | 'HTTP_HEAD_TOO_LARGE' | 'HTTP_CUT'

  constructor(code: HttpError['code'], message: string) {
    super(message)
    this.name = 'HttpError'
    this.code = code
  }
}

/** How the end of a body is told: by its length, by an empty chunk, or by the end of the connection. */
type BodyFraming = number | 'chunked' | 'until_close'

export interface HttpHead {
  readonly status: number
  readonly headers: ResponseHeaders
  readonly framing: BodyFraming
  /** For how long the connection may be used again after the response, in milliseconds; 0: not at all. */
  readonly reuseMs: number
}

// A server says how long it keeps a connection; without a word it is taken to be five seconds, as many have it. A
// request that goes out in the last of them may cross the server's end.
const REUSE_MS = 4000
const REUSE_MS_MAX = 600_000
const REUSE_MARGIN_MS = 1000

const TAB = 9
const SPACE = 32

// Within a second a server sends one head again and again, to the letter, over all of its connections.
let textBefore = ''
let headBefore: HttpHead | null = null

/** Reads a head without the blank line at its end. Throws for what is not HTTP/1, or leaves open where its body ends. */
export function parseHead(text: string): HttpHead {
  if (headBefore !== null && text === textBefore) return headBefore
  headBefore = readHead(text)
  textBefore = text
  return headBefore
}

function readHead(text: string): HttpHead {
  if (!HEAD.test(text)) throw new HttpError('HTTP_INVALID', faultOf(text))
  const status = Number(text.slice(9, 12))
  const headers = new HeaderLines(text)
  const framing = framingOf(status, headers)
  const canReuse = text.startsWith('HTTP/1.1') && framing !== 'until_close'
  return { status, headers, framing, reuseMs: canReuse ? reuseMsOf(headers) : 0 }
}

// One look at the whole: a line such as "HTTP/1.1 200 OK", and behind each line end a name, a colon and a value.
const HEAD =
  // oxlint-disable-next-line no-control-regex -- a value may have a tab
  /^HTTP\/1\.[01] [1-9]\d\d(?: [\t\x20-\x7e\x80-\xff]*)?(?:\r\n[!#$%&'*+\-.^_`|~0-9a-zA-Z]+:[\t\x20-\x7e\x80-\xff]*)*$/u

// Half of a line end, or a character that no line has: each side would read it in its own way.
// oxlint-disable-next-line no-control-regex -- these are the characters that a head must not have
const STRAY = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f]|\r(?!\n)|(?<!\r)\n/u

/** What is wrong with a head. */
function faultOf(text: string): string {
  if (STRAY.test(text)) return 'its head has a stray character'
  const [first = ''] = text.split('\r\n', 1)
  return HEAD.test(first) ? 'a line of its head is no header' : 'it does not begin as a response does'
}

/** The headers of a head. Most are never asked for, and so each is looked for when it is. */
class HeaderLines implements ResponseHeaders {
  readonly #text: string
  readonly #lowered: string

  constructor(text: string) {
    this.#text = text
    this.#lowered = text.toLowerCase()
  }

  /** One that comes more than once is one with commas, as in fetch. */
  get(name: string): string | null {
    const start = startOf(name)
    let value: string | null = null
    for (let at = this.#lowered.indexOf(start); at !== -1; at = this.#lowered.indexOf(start, at + 2)) {
      const from = at + start.length
      const end = this.#text.indexOf('\r', from)
      const text = trimmed(this.#text, from, end === -1 ? this.#text.length : end)
      value = value === null ? text : `${value}, ${text}`
    }
    return value
  }
}

// The names that are asked for are few, and written in the code.
const starts = new Map<string, string>()

/** How the line of a header begins, with the end of the line before it. */
function startOf(name: string): string {
  const known = starts.get(name)
  if (known !== undefined) return known
  const start = `\r\n${name}:`
  starts.set(name, start)
  return start
}

// Only of these two: `trim` knows more spaces, and somebody else would read "chunked" with one of them as another word.
function trimmed(text: string, from: number, to: number): string {
  let start = from
  let end = to
  while (start < end && isBlank(text.charCodeAt(start))) start += 1
  while (end > start && isBlank(text.charCodeAt(end - 1))) end -= 1
  return text.slice(start, end)
}

function isBlank(code: number): boolean {
  return code === SPACE || code === TAB
}

function framingOf(status: number, headers: ResponseHeaders): BodyFraming {
  const coding = headers.get('transfer-encoding')
  const length = headers.get('content-length')
  if (status < 200 || status === 204 || status === 304) return 0
  // Both at once is how one response is made to look like two.
  if (coding !== null && length !== null)
    throw new HttpError('HTTP_INVALID', 'its length is told in two ways')
  if (coding !== null) {
    if (coding.toLowerCase() === 'chunked') return 'chunked'
    throw new HttpError('HTTP_INVALID', 'it is encoded for transfer in a way that is not read')
  }
  return length === null ? 'until_close' : lengthOf(length)
}

function lengthOf(text: string): number {
  // Some proxies say it twice.
  const [first = '', ...others] = listOf(text)
  const length = Number(first)
  const isSame = others.every((other) => other === first)
  if (!isSame || !/^\d+$/u.test(first) || !Number.isSafeInteger(length)) {
    throw new HttpError('HTTP_INVALID', 'its length is no number')
  }
  return length
}

function reuseMsOf(headers: ResponseHeaders): number {
  const connection = headers.get('connection')
  if (connection !== null && listOf(connection.toLowerCase()).includes('close')) return 0
  const hints = headers.get('keep-alive')
  if (hints === null) return REUSE_MS
  const timeout = listOf(hints.toLowerCase()).find((hint) => hint.startsWith(TIMEOUT))
  const seconds = timeout === undefined ? Number.NaN : Number(timeout.slice(TIMEOUT.length))
  if (!(seconds >= 0)) return REUSE_MS
  return Math.min(REUSE_MS_MAX, Math.max(0, seconds * 1000 - REUSE_MARGIN_MS))
}

const TIMEOUT = 'timeout='

function listOf(value: string): readonly string[] {
  return value.split(',').map((part) => trimmed(part, 0, part.length))
}
