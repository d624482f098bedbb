import type { EventDeltas, EventFillings, EventForm, FrameBlock } from '../frames/frame-block.ts'
import type { Frame, ProviderEventFrame, StateEnteredFrame } from '../frames/generated/frame.ts'
import { doneMarkFrame, plainEventFrame } from '../frames/make-frame.ts'
import { isJsonObject } from '../protocol/json.ts'
import {
  AS_IT_IS,
  AS_JSON,
  BY_TYPE,
  COUNT,
  DONE_MARK,
  EVENT,
  FILLED_EVENT,
  FILLED_EVENTS,
  FORMED_EVENT,
  isRepeated,
  NAMED_EVENT,
  PLAIN_EVENT,
  STATE,
} from './repeat-lines.ts'

/** The last frame of a type that nobody has made: one of a block. */
interface Unmade {
  readonly block: FrameBlock
  readonly index: number
}

/** Writes the lines of frames that are like the last of their type. */
export class RepeatWriter {
  readonly #last = new Map<string, Frame>()
  /** Of events, and of texts of a type: newer than what the map has. */
  #event: Unmade | null = null
  #text: (Unmade & { readonly type: Frame['type'] }) | null = null
  /** The form of the last events that had one. */
  #form: EventForm | null = null
  /** Whether a line says which run it is: others take it from there. */
  #isBegun = false

  /** Takes notice of a frame that was written as a whole. */
  see(frame: Frame): void {
    this.#isBegun = true
    if (isRepeated(frame)) this.#set(frame)
  }

  /** Takes notice of a plain event that was written without its frame. */
  seeEvent(block: FrameBlock, index: number): void {
    this.#event = { block, index }
  }

  /** The same for a text. */
  seeText(block: FrameBlock, index: number, type: Frame['type']): void {
    // There is room for one.
    if (this.#text !== null && this.#text.type !== type) this.#set(made(this.#text))
    this.#text = { block, index, type }
  }

  /** The line of a frame; null when it is not like another, or its text is longer than allowed. */
  write(frame: Frame, lengthMax: number): string | null {
    const line =
      frame.type === 'provider_event' ? this.#eventLine(frame, lengthMax) : this.#lineOf(frame, lengthMax)
    if (line !== null) this.#set(frame)
    return line
  }

  /** The line of a plain event, whatever came before it; null when it cannot be written like that. */
  writePlainEvent(event: PlainEvent, lengthMax: number): string | null {
    const { ts, turn, attempt, name, raw } = event
    if (!this.#isBegun || raw.length > lengthMax || !isLine(raw) || !isCell(name)) return null
    const start = placedLine(PLAIN_EVENT, ts, turn, attempt)
    return start === null ? null : `${start}\t${name}\t${raw}`
  }

  /**
   * The line of an event that is plain and in the log behind one that is; null when it cannot be written like that.
   * `sinceMs` is the time since that one.
   */
  writeEvent(sinceMs: number, name: string, type: string, raw: string, lengthMax: number): string | null {
    if (raw.length > lengthMax || !isLine(raw)) return null
    const ms = sinceMs === 0 ? '' : sinceMs
    if (name === type) return `${EVENT.letter}${ms}${AS_IT_IS}${raw}`
    return isCell(type) ? `${NAMED_EVENT}${ms}\t${type}\t${raw}` : null
  }

  /** The same for one whose form is known. The first of a form says what it is. */
  writeDelta(sinceMs: number, form: EventForm, fillings: EventFillings, from: number): string {
    const ms = sinceMs === 0 ? '' : sinceMs
    let line = `${FILLED_EVENT}${ms}`
    if (form !== this.#form) {
      this.#form = form
      line = `${FORMED_EVENT}${ms}\t${form.type}\t${JSON.stringify(form.fixed)}`
    }
    for (let hole = 0; hole < form.fixed.length - 1; hole += 1) line += `\t${fillings[from + hole] ?? ''}`
    return line
  }

  /** Whether a line has said what a form is, and none what another is since. */
  hasForm(form: EventForm): boolean {
    return form === this.#form
  }

  /** The line of several of a form that is known; and of their texts, behind one of that type and place. */
  writeDeltas(
    sinceMs: number,
    { form, fillings, textHole }: EventDeltas,
    from: number,
    to: number,
    textType: Frame['type'] | null,
  ): string {
    const ms = sinceMs === 0 ? '' : sinceMs
    const texts = textType === null ? '' : `${BY_TYPE.get(textType)?.letter ?? ''}${textHole}`
    const holes = form.fixed.length - 1
    return `${FILLED_EVENTS}${ms}\t${texts}\t${fillings.slice(from * holes, to * holes).join('\t')}`
  }

  /** The line of a text that is in the log behind another of its type and place. */
  writeText(sinceMs: number, type: Frame['type'], text: string): string {
    return textLine(BY_TYPE.get(type)?.letter ?? '', sinceMs, text)
  }

  #eventLine(frame: ProviderEventFrame, lengthMax: number): string | null {
    const { status, ts, turn, attempt, event_name: name, raw } = frame
    if (status === 'done') {
      const isPlain = this.#isBegun && isAlike(DONE, frame, DONE_DIFFERS)
      return isPlain ? placedLine(DONE_MARK, ts, turn, attempt) : null
    }
    // One that nobody has made is not made for this.
    const line = this.#event === null ? this.#lineOf(frame, lengthMax) : null
    if (line !== null || name === null || raw === undefined || !isAlike(PLAIN, frame, PLAIN_DIFFERS))
      return line
    return this.writePlainEvent({ ts, turn, attempt, name, raw }, lengthMax)
  }

  #lineOf(frame: Frame, lengthMax: number): string | null {
    const last = this.#lastOf(frame.type)
    return last === undefined || frame.ts < last.ts ? null : lineOf(frame, last, lengthMax)
  }

  #lastOf(type: Frame['type']): Frame | undefined {
    const text = this.#text
    if (type === 'provider_event' && this.#event !== null) this.#set(made(this.#event))
    else if (text !== null && text.type === type) this.#set(made(text))
    return this.#last.get(type)
  }

  #set(frame: Frame): void {
    this.#last.set(frame.type, frame)
    if (frame.type === 'provider_event') this.#event = null
    else if (this.#text?.type === frame.type) this.#text = null
  }
}

/** An event that there is nothing to say about. */
export interface PlainEvent {
  readonly ts: number
  readonly turn: number
  readonly attempt: number
  readonly name: string
  readonly raw: string
}

const PLAIN = plainEventFrame('', 0, 0, 0, 0, '', '')
const PLAIN_DIFFERS: readonly string[] = ['run_id', 'turn', 'attempt', 'event_name', 'raw']
const DONE = doneMarkFrame('', 0, 0, 0, 0)
const DONE_DIFFERS: readonly string[] = ['run_id', 'turn', 'attempt']

function made({ block, index }: Unmade): Frame {
  return block.at(index)
}

/** The start of a line that says when its event came and what it is of; null when it cannot be read back. */
function placedLine(letter: string, ts: number, turn: number, attempt: number): string | null {
  const isReadable = COUNT.test(String(ts)) && COUNT.test(String(turn)) && COUNT.test(String(attempt))
  return isReadable ? `${letter}${ts}\t${turn}\t${attempt}` : null
}

function lineOf(frame: Frame, last: Frame, lengthMax: number): string | null {
  const sinceMs = frame.ts - last.ts
  if (frame.type === 'state_entered') return stateLine(frame, last, sinceMs)
  const repeated = BY_TYPE.get(frame.type)
  if (repeated === undefined) return null
  const text = textIn(frame, repeated.field)
  if (text === null || text.length > lengthMax || textIn(last, repeated.field) === null) return null
  if (isAlike(last, frame, [repeated.field])) return textLine(repeated.letter, sinceMs, text)
  return frame.type === 'provider_event' ? namedLine(frame, last, sinceMs, text) : null
}

function namedLine(frame: ProviderEventFrame, last: Frame, sinceMs: number, raw: string): string | null {
  const { event_name: name } = frame
  if (name === null || !isCell(name) || !isLine(raw) || !isAlike(last, frame, ['raw', 'event_name']))
    return null
  return `${NAMED_EVENT}${sinceMs === 0 ? '' : sinceMs}\t${name}\t${raw}`
}

function stateLine(frame: StateEnteredFrame, last: Frame, sinceMs: number): string | null {
  const { by, state, v, run_id } = frame
  const turn = String(frame.turn)
  if (!COUNT.test(turn) || !isCell(by) || !isCell(state) || v !== last.v || run_id !== last.run_id)
    return null
  if (!hasKeys(frame, STATE_KEYS) || !hasKeys(last, STATE_KEYS)) return null
  return `${STATE}${sinceMs === 0 ? '' : sinceMs}\t${turn}\t${by}\t${state}`
}

const STATE_KEYS: readonly string[] = ['v', 'run_id', 'seq', 'ts', 'type', 'state', 'by', 'turn']

/** In the same order as well: a log that is exported has the lines that were shown. */
function hasKeys(frame: Frame, keys: readonly string[]): boolean {
  let at = 0
  for (const key in frame) {
    if (key !== keys[at]) return false
    at += 1
  }
  return at === keys.length
}

function textLine(letter: string, sinceMs: number, text: string): string {
  const start = `${letter}${sinceMs === 0 ? '' : sinceMs}`
  return isLine(text) ? `${start}${AS_IT_IS}${text}` : `${start}${AS_JSON}${JSON.stringify(text)}`
}

// Half a surrogate pair cannot be written as UTF-8, and a line must not end within its text.
function isLine(text: string): boolean {
  return text.isWellFormed() && !text.includes('\n')
}

function isCell(text: string): boolean {
  return isLine(text) && !text.includes('\t')
}

function textIn(frame: unknown, field: string): string | null {
  const text = isJsonObject(frame) ? frame[field] : null
  return typeof text === 'string' ? text : null
}

/** Whether a frame is like another apart from number, time and some fields. */
function isAlike(last: unknown, frame: unknown, apart: readonly string[]): boolean {
  if (!isJsonObject(last) || !isJsonObject(frame)) return false
  const keys = Object.keys(frame)
  const lastKeys = Object.keys(last)
  if (keys.length !== lastKeys.length) return false
  // Counted by hand: an iterator would cost more than all the rest, and there is a frame a token.
  for (let at = 0; at < keys.length; at += 1) {
    const key = keys[at]
    // The same order as well: a log that is exported has the lines that were shown.
    if (key === undefined || key !== lastKeys[at]) return false
    if (key === 'seq' || key === 'ts' || apart.includes(key)) continue
    const value = frame[key]
    const before = last[key]
    if (value !== before && !(isEmptyList(value) && isEmptyList(before))) return false
  }
  return true
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0
}
