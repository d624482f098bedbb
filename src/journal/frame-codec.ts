import { Buffer } from 'node:buffer'
import { hash } from 'node:crypto'

import { LoopchartError } from '../errors.ts'
import type { FrameBlock } from '../frames/frame-block.ts'
import type { Frame } from '../frames/generated/frame.ts'
import { isJsonObject, parseJson, type Json } from '../protocol/json.ts'
import { deltaOf, PiecedText, type Delta } from './body-delta.ts'
import { packBytes, unpackBytes } from './packed-bytes.ts'
import { parseFrame } from './parse-frame.ts'
import {
  BlockEncoder,
  LARGE_TEXT,
  NOTHING,
  tellLine,
  type EncodedFrame,
  type LargeText,
  type OnLine,
} from './block-encoder.ts'
import { RepeatReader } from './repeat-reader.ts'
import { RepeatWriter } from './repeat-writer.ts'

type Path = readonly (string | number)[]

/** Where a text was taken out of a frame, and how to get it back. */
type Reference =
  | { readonly path: Path; readonly hash: string }
  | { readonly path: Path; readonly delta: Delta }

// A line is a frame; or some that repeat others, which begins with a letter; or this mark, the references, a tab, and
// the frame with '' in their places.
const MARK = '@'

/** Writes the frames of one run, in order. */
export class FrameEncoder {
  readonly #repeated = new RepeatWriter()
  #body: string
  #block: BlockEncoder | null = null

  /** `body` is that of the last request in the log; '' when there is none. */
  constructor(body = '') {
    this.#body = body
  }

  encode(frame: Frame): EncodedFrame {
    this.#block?.catchUp()
    this.#block = null
    return this.#encode(frame)
  }

  /** Writes the frames of a block from a place up to another; those of whole events. */
  encodeBlock(block: FrameBlock, from: number, to: number, onLine: OnLine): void {
    if (block.tell === undefined) {
      for (let at = from; at < to; at += 1) tellLine(this.encode(block.at(at)), onLine)
      return
    }
    if (this.#block?.goesOn(block, from) !== true) {
      this.#block?.catchUp()
      this.#block = new BlockEncoder(block, this.#repeated, (frame) => this.#encode(frame))
    }
    this.#block.encode(from, to, onLine)
  }

  #encode(frame: Frame): EncodedFrame {
    const repeat = this.#repeated.write(frame, LARGE_TEXT)
    if (repeat !== null) return { line: repeat, texts: NOTHING }
    this.#repeated.see(frame)
    if (frame.type === 'request_sent' && this.#body !== '') {
      const { body } = frame
      const delta = deltaOf(this.#body, body)
      this.#body = body
      if (delta.length > 1 || typeof delta[0] !== 'string') {
        return { line: markedLine([{ path: ['body'], delta }], { ...frame, body: '' }), texts: NOTHING }
      }
    }
    if (frame.type === 'request_sent') this.#body = frame.body
    const line = JSON.stringify(frame)
    return line.length > LARGE_TEXT ? withoutLargeTexts(frame, line) : { line, texts: NOTHING }
  }
}

/** Reads what a `FrameEncoder` wrote, from the first line on. `readText` gives a kept text, null when it is not there. */
export class FrameDecoder {
  readonly #readText: (hash: string) => Uint8Array | null
  readonly #repeated = new RepeatReader()
  #body = new PiecedText([])

  constructor(readText: (hash: string) => Uint8Array | null) {
    this.#readText = readText
  }

  /** The frames of a line, mostly one. Throws `log_corrupt` or the errors of `parseFrame`. */
  decode(line: string, seq: number): readonly Frame[] {
    const repeated = this.#repeated.read(line, seq)
    if (repeated !== null) return repeated
    const end = line.startsWith(MARK) ? line.indexOf('\t') : -1
    const references = end === -1 ? [] : parseReferences(line.slice(1, end))
    // Checked while the texts are not in it: they are texts wherever they are.
    const frame = this.#restore(parseFrame(line.slice(end + 1)), references)
    // One that came as a delta is known in its pieces.
    if (frame.type === 'request_sent' && !references.some((reference) => 'delta' in reference)) {
      this.#body = new PiecedText([frame.body])
    }
    this.#repeated.see(frame)
    return [frame]
  }

  #restore(frame: Frame, references: readonly Reference[]): Frame {
    let whole: unknown = frame
    for (const reference of references) whole = withText(whole, reference.path, this.#textOf(reference))
    if (!isFrame(whole)) throw unreadable()
    return whole
  }

  #textOf(reference: Reference): string {
    if ('delta' in reference) {
      this.#body = this.#body.apply(reference.delta)
      return this.#body.text
    }
    const stored = this.#readText(reference.hash)
    if (stored === null) throw new LoopchartError('log_corrupt', `text ${reference.hash} is missing`)
    const bytes = unpacked(stored)
    if (bytes === null || hashOf(bytes) !== reference.hash) {
      throw new LoopchartError('log_corrupt', `text ${reference.hash} is damaged`)
    }
    return bytes.toString('utf8')
  }
}

function withoutLargeTexts(frame: Frame, line: string): EncodedFrame {
  const texts: LargeText[] = []
  const references: Reference[] = []
  const left = takeOut(frame, [], (path, text) => {
    const bytes = Buffer.from(text)
    const hash = hashOf(bytes)
    texts.push({ hash, bytes: packBytes(bytes) })
    references.push({ path, hash })
  })
  return references.length === 0 ? { line, texts } : { line: markedLine(references, left), texts }
}

function takeOut(value: unknown, path: Path, keep: (path: Path, text: string) => void): unknown {
  if (typeof value === 'string') {
    // Half a surrogate pair is not UTF-8 and would come back as another character; in a line it is escaped.
    if (value.length <= LARGE_TEXT || !value.isWellFormed()) return value
    keep(path, value)
    return ''
  }
  if (Array.isArray(value)) return value.map((inner, at) => takeOut(inner, [...path, at], keep))
  if (!isJsonObject(value)) return value
  const entries = Object.entries(value).map(([key, inner]) => [key, takeOut(inner, [...path, key], keep)])
  return Object.fromEntries(entries)
}

function withText(value: unknown, path: Path, text: string): unknown {
  const [key, ...rest] = path
  if (key === undefined) return text
  if (Array.isArray(value) && typeof key === 'number') {
    return value.map((inner: unknown, at) => (at === key ? withText(inner, rest, text) : inner))
  }
  // The spread keeps the place of the key: the line that is exported is the line that was shown.
  if (isJsonObject(value) && key in value) return { ...value, [key]: withText(value[key], rest, text) }
  throw unreadable()
}

function markedLine(references: readonly Reference[], frame: unknown): string {
  return `${MARK}${JSON.stringify(references)}\t${JSON.stringify(frame)}`
}

function parseReferences(text: string): readonly Reference[] {
  const references = parseJson(text)
  if (!Array.isArray(references)) throw unreadable()
  return references.map(parseReference)
}

function parseReference(value: Json): Reference {
  if (isJsonObject(value)) {
    const { path, hash, delta } = value
    if (isPath(path) && typeof hash === 'string') return { path, hash }
    if (isPath(path) && isDelta(delta)) return { path, delta }
  }
  throw unreadable()
}

function isPath(value: Json | undefined): value is Path & Json {
  return Array.isArray(value) && value.every((key) => typeof key === 'string' || typeof key === 'number')
}

function isDelta(value: Json | undefined): value is Delta & Json {
  return Array.isArray(value) && value.every((part) => typeof part === 'string' || isRange(part))
}

function isRange(part: Json): boolean {
  return Array.isArray(part) && part.length === 2 && part.every((end) => Number.isSafeInteger(end))
}

// It was one before its texts were put back.
function isFrame(value: unknown): value is Frame {
  return isJsonObject(value)
}

function unpacked(stored: Uint8Array): Buffer | null {
  try {
    return unpackBytes(stored)
  } catch {
    return null
  }
}

function hashOf(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'base64url')
}

function unreadable(): LoopchartError {
  return new LoopchartError('log_corrupt', 'the line has references that cannot be read')
}
