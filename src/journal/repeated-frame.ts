import { LoopchartError } from '../errors.ts'
import type { EventFillings, EventForm } from '../frames/frame-block.ts'
import type { Frame, ProviderEventFrame, StateEnteredFrame } from '../frames/generated/frame.ts'
import { isJsonObject, parseJson, type Json } from '../protocol/json.ts'

/** A type of frame that comes by the thousand, each with one text that differs. Its lines begin with the letter. */
interface RepeatedType {
  readonly type: Frame['type']
  readonly letter: string
  readonly field: string
}

const EVENT: RepeatedType = { type: 'provider_event', letter: 'p', field: 'raw' }

const TYPES: readonly RepeatedType[] = [
  EVENT,
  { type: 'output_text_delta', letter: 't', field: 'delta' },
  { type: 'reasoning_delta', letter: 'r', field: 'delta' },
  { type: 'refusal_delta', letter: 'f', field: 'delta' },
  { type: 'tool_stdout', letter: 'o', field: 'chunk' },
  { type: 'tool_stderr', letter: 'e', field: 'chunk' },
]

const BY_TYPE: ReadonlyMap<string, RepeatedType> = new Map(TYPES.map((repeated) => [repeated.type, repeated]))
const BY_LETTER: ReadonlyMap<string, RepeatedType> = new Map(
  TYPES.map((repeated) => [repeated.letter, repeated]),
)

// Lines with more than one thing that differs: their letter and the milliseconds, then one thing behind each tab.
const NAMED_EVENT = 'n'
const FORMED_EVENT = 'h'
const FILLED_EVENT = 'd'
const STATE = 's'

// After the letter: the milliseconds since the last, nothing for none; then the text as it is, or as JSON.
const LINE = /^.(\d*)([\t ])/u
const AS_IT_IS = '\t'
const AS_JSON = ' '

// As it is written in a line of a state. A larger one may be written with an exponent or not be read back exactly.
const TURN = /^\d{1,15}$/u

/**
 * Frames that are like the last of their type, apart from number, time and a text or two. A line of one has what differs
 * and not a dozen fields again, which makes a log a quarter as long and spares most of the work of writing it.
 */
export class RepeatedFrames {
  readonly #last = new Map<string, Frame>()
  /** The form of the last events that had one. */
  #form: EventForm | null = null

  /** Takes notice of a frame that was written or read as a whole. */
  see(frame: Frame): void {
    if (BY_TYPE.has(frame.type) || frame.type === 'state_entered') this.#last.set(frame.type, frame)
  }

  /** The line of a frame that repeats another; null when it does not, or its text is longer than allowed. */
  write(frame: Frame, lengthMax: number): string | null {
    const last = this.#last.get(frame.type)
    if (last === undefined || frame.ts < last.ts) return null
    const line = lineOf(frame, last, lengthMax)
    if (line !== null) this.#last.set(frame.type, frame)
    return line
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

  /** The line of a text that is in the log behind another of its type and place. */
  writeText(sinceMs: number, type: Frame['type'], text: string): string {
    return textLine(BY_TYPE.get(type)?.letter ?? '', sinceMs, text)
  }

  /** The frame of a line that one of the above gave; null when the line is of another kind. */
  read(line: string, seq: number): Frame | null {
    const letter = line.charAt(0)
    switch (letter) {
      case NAMED_EVENT:
      case FORMED_EVENT:
      case FILLED_EVENT:
        return this.#readEvent(letter, line.slice(1).split('\t'), seq)
      case STATE:
        return this.#readState(line.slice(1).split('\t'), seq)
      default: {
        const repeated = BY_LETTER.get(letter)
        return repeated === undefined ? null : this.#readText(repeated, line, seq)
      }
    }
  }

  #readText(repeated: RepeatedType, line: string, seq: number): Frame {
    const [start, sinceMs, form] = LINE.exec(line) ?? []
    const rest = line.slice(start?.length)
    const text = form === AS_JSON ? parseJson(rest) : rest
    if (start === undefined || typeof text !== 'string') throw unfounded()
    return this.#again(repeated.type, seq, Number(sinceMs), { [repeated.field]: text })
  }

  #readEvent(letter: string, [sinceMs = '', ...cells]: readonly string[], seq: number): Frame {
    if (letter === NAMED_EVENT) {
      const [event_name = '', ...raw] = cells
      return this.#again('provider_event', seq, Number(sinceMs), { event_name, raw: raw.join('\t') })
    }
    if (letter === FORMED_EVENT) this.#form = parseForm(cells[0], cells[1])
    const form = this.#form
    const fillings = letter === FORMED_EVENT ? cells.slice(2) : cells
    if (form === null || fillings.length !== form.fixed.length - 1) throw unfounded()
    let raw = ''
    for (const [at, fixed] of form.fixed.entries()) raw += `${fixed}${fillings[at] ?? ''}`
    return this.#again('provider_event', seq, Number(sinceMs), { event_name: form.type, raw })
  }

  #readState([sinceMs, turn = '', by = '', state = '']: readonly string[], seq: number): Frame {
    if (!TURN.test(turn)) throw unfounded()
    return this.#again('state_entered', seq, Number(sinceMs), { state, by, turn: Number(turn) })
  }

  /** The last frame of a type with other fields, at its place in the log. */
  #again(type: Frame['type'], seq: number, sinceMs: number, differs: object): Frame {
    const last = this.#last.get(type)
    if (last === undefined || !(sinceMs >= 0)) throw unfounded()
    const frame: unknown = { ...last, seq, ts: last.ts + sinceMs, ...differs }
    if (!isFrame(frame)) throw new TypeError('a frame with another text is a frame')
    this.#last.set(type, frame)
    return frame
  }
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
  const { by, state } = frame
  const turn = String(frame.turn)
  if (!TURN.test(turn) || !isCell(by) || !isCell(state) || !isAlike(last, frame, ['state', 'by', 'turn']))
    return null
  return `${STATE}${sinceMs === 0 ? '' : sinceMs}\t${turn}\t${by}\t${state}`
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

function isFrame(value: unknown): value is Frame {
  return isJsonObject(value)
}

function parseForm(type: string | undefined, text: string | undefined): EventForm {
  const fixed = parseJson(text ?? '')
  if (type === undefined || !isTexts(fixed)) throw unfounded()
  return { type, fixed }
}

function isTexts(value: Json | undefined): value is readonly string[] {
  return Array.isArray(value) && value.length > 0 && value.every((text) => typeof text === 'string')
}

function unfounded(): LoopchartError {
  return new LoopchartError('log_corrupt', 'the line repeats a frame that is not there')
}
