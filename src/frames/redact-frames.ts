import { eventData, eventText } from './event-data.ts'
import type { Frame, ProviderEventFrame } from './generated/frame.ts'
import { isJsonObject, type Json, type JsonObject } from '../protocol/json.ts'
import { MASK, type Redactor, type SecretRange } from './redactor.ts'

const HELD_MAX = 10_000

/**
 * Masks secrets in the frames of a run, also one that comes in pieces: a frame whose text may end inside of a secret
 * is held back, with those after it, until the next piece of that text says whether it does. Frames that were
 * changed have `redacted: true`.
 */
export class FrameRedactor {
  readonly #redactor: Redactor
  readonly #joins = new Map<string, readonly Part[]>()
  #held: HeldFrame[] = []

  constructor(redactor: Redactor) {
    this.#redactor = redactor
  }

  /** Takes the next frame; gives those that may be shown now, in order. */
  push(frame: Frame): readonly Frame[] {
    if (this.#redactor.isIdle) return [frame]
    if (endsTexts(frame) || this.#held.length >= HELD_MAX) this.#settleAll()
    // Nothing follows what a call has said, and the next frame may be a question that somebody has to see.
    if (frame.type === 'tool_ended' || frame.type === 'tool_failed') {
      this.#settle(`tool_stdout ${frame.call_id}`)
      this.#settle(`tool_stderr ${frame.call_id}`)
    }
    const piece = pieceOf(frame)
    const held: HeldFrame = { frame, piece, ranges: [], isOpen: false }
    this.#held.push(held)
    if (piece !== null) this.#join(piece, held)
    return this.#release()
  }

  /** No frame follows: gives what was held back. */
  end(): readonly Frame[] {
    this.#settleAll()
    return this.#release()
  }

  #join(piece: Piece, held: HeldFrame): void {
    const parts = [...(this.#joins.get(piece.key) ?? []), { held, start: 0 }]
    const joined = parts.map(textOf).join('')
    const openFrom = joined.length - this.#redactor.partialLength(joined)
    this.#cover(parts, joined, openFrom)
    const open = partsFrom(parts, openFrom)
    for (const { held: part } of parts) part.isOpen = open.some(({ held: other }) => other === part)
    this.#joins.set(piece.key, open)
  }

  /** Marks the secrets that begin before a place: what begins there may still go on. */
  #cover(parts: readonly Part[], joined: string, before: number): void {
    for (const range of this.#redactor.find(joined)) {
      if (range.start >= before) continue
      this.#redactor.count()
      cover(parts, range)
    }
  }

  #settleAll(): void {
    for (const key of this.#joins.keys()) this.#settle(key)
  }

  /** The text of this name has ended. */
  #settle(key: string): void {
    const parts = this.#joins.get(key) ?? []
    const joined = parts.map(textOf).join('')
    this.#cover(parts, joined, joined.length)
    for (const { held } of parts) held.isOpen = false
    this.#joins.delete(key)
  }

  #release(): readonly Frame[] {
    const firstOpen = this.#held.findIndex(({ isOpen }) => isOpen)
    const free = firstOpen === -1 ? this.#held : this.#held.slice(0, firstOpen)
    this.#held = firstOpen === -1 ? [] : this.#held.slice(firstOpen)
    return free.map((held) => this.#redact(held))
  }

  #redact({ frame, piece, ranges }: HeldFrame): Frame {
    if (ranges.length === 0 && !isEncoded(frame) && !this.#redactor.mayHold(JSON.stringify(frame)))
      return frame
    const before = this.#redactor.masked
    const pieced =
      piece === null || ranges.length === 0 ? frame : piece.replace(maskRanges(piece.text, ranges))
    const redacted = redactFields(readable(pieced, this.#redactor), this.#redactor)
    return pieced === frame && this.#redactor.masked === before
      ? frame
      : Object.assign(redacted, { redacted: true })
  }
}

interface HeldFrame {
  readonly frame: Frame
  readonly piece: Piece | null
  readonly ranges: PieceRange[]
  isOpen: boolean
}

/** What a frame adds to a text that comes in pieces. */
interface Piece {
  /** Names the text. */
  readonly key: string
  readonly text: string
  /** The frame with another text in the place. */
  readonly replace: (text: string) => Frame
}

/** The end of a piece, from `start` on, that belongs to a text being looked at. */
interface Part {
  readonly held: HeldFrame
  readonly start: number
}

interface PieceRange extends SecretRange {
  /** Whether the secret begins here: only there is its mask shown. */
  readonly isFirst: boolean
}

function textOf({ held, start }: Part): string {
  return held.piece?.text.slice(start) ?? ''
}

/** Marks a range of the joined text in each of the pieces that it runs through. */
function cover(parts: readonly Part[], { start, end }: SecretRange): void {
  let offset = 0
  for (const part of parts) {
    const { length } = textOf(part)
    const from = Math.max(start - offset, 0)
    const to = Math.min(end - offset, length)
    if (from < to) {
      part.held.ranges.push({
        start: part.start + from,
        end: part.start + to,
        isFirst: start >= offset,
      })
    }
    offset += length
  }
}

/** The parts that reach beyond a place of the joined text, each from there on. */
function partsFrom(parts: readonly Part[], from: number): readonly Part[] {
  let offset = 0
  const rest: Part[] = []
  for (const part of parts) {
    const { length } = textOf(part)
    if (offset + length > from) {
      rest.push({ held: part.held, start: part.start + Math.max(from - offset, 0) })
    }
    offset += length
  }
  return rest
}

function maskRanges(text: string, ranges: readonly PieceRange[]): string {
  let masked = ''
  let at = 0
  for (const { start, end, isFirst } of ranges) {
    masked += text.slice(at, start) + (isFirst ? MASK : '')
    at = end
  }
  return masked + text.slice(at)
}

/** After these frames no piece follows that would go on with a text from before. */
function endsTexts({ type }: Frame): boolean {
  return type === 'response_settled' || type === 'request_sent' || type === 'run_ended'
}

function pieceOf(frame: Frame): Piece | null {
  switch (frame.type) {
    case 'output_text_delta':
    case 'refusal_delta':
    case 'reasoning_delta':
      return {
        key: `${frame.type} ${placeOf(frame)}`,
        text: frame.delta,
        replace: (delta) => ({ ...frame, delta }),
      }
    case 'tool_stdout':
    case 'tool_stderr':
      return {
        key: `${frame.type} ${frame.call_id}`,
        text: frame.chunk,
        replace: (chunk) => ({ ...frame, chunk }),
      }
    case 'provider_event':
      return eventPiece(frame)
    default:
      return null
  }
}

function eventPiece(frame: ProviderEventFrame): Piece | null {
  const data = eventData(frame)
  if (!isJsonObject(data)) return null
  const { type, delta } = data
  if (typeof type !== 'string' || typeof delta !== 'string') return null
  return {
    key: `event ${type} ${placeOf(data)}`,
    text: delta,
    replace: (masked) => {
      const { raw_base64: _, ...rest } = frame
      return { ...rest, raw: JSON.stringify({ ...data, delta: masked }) }
    },
  }
}

// By place first: there are providers that give every event of an item another id.
function placeOf({
  output_index: index,
  item_id: id,
}: JsonObject | { output_index: Json; item_id: Json }): string {
  return typeof index === 'number' ? String(index) : `id ${JSON.stringify(id)}`
}

function isEncoded(frame: Frame): boolean {
  return frame.type === 'provider_event' && frame.raw_base64 !== undefined
}

/** The frame with its event as text where base64 would hide a secret. */
function readable(frame: Frame, redactor: Redactor): Frame {
  if (frame.type !== 'provider_event' || frame.raw_base64 === undefined) return frame
  const raw = eventText(frame)
  if (redactor.find(raw).length === 0) return frame
  const { raw_base64: _, ...rest } = frame
  return { ...rest, raw }
}

function redactFields(frame: Frame, redactor: Redactor): Frame
function redactFields(frame: Frame, redactor: Redactor): object {
  const fields: Json = JSON.parse(JSON.stringify(frame))
  return Object(redactor.json(fields))
}
