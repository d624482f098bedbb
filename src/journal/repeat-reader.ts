import type { EventForm } from '../frames/frame-block.ts'
import type { Frame } from '../frames/generated/frame.ts'
import { doneMarkFrame, plainEventFrame } from '../frames/make-frame.ts'
import { isJsonObject, parseJson, type Json } from '../protocol/json.ts'
import {
  AS_JSON,
  BY_LETTER,
  COUNT,
  DONE_MARK,
  FILLED_EVENT,
  FILLED_EVENTS,
  FORMED_EVENT,
  isRepeated,
  NAMED_EVENT,
  PLAIN_EVENT,
  STATE,
  unfounded,
  type RepeatedType,
} from './repeat-lines.ts'

// After the letter: the milliseconds since the last, nothing for none; then the text as it is, or as JSON.
const LINE = /^.(\d*)([\t ])/u

/** What a line of several events says of their texts. */
const TEXTS = /^(?:([a-z])(\d+))?$/u

/** Makes frames of the lines of a `RepeatWriter`. */
export class RepeatReader {
  readonly #last = new Map<string, Frame>()
  /** The form of the last events that had one. */
  #form: EventForm | null = null
  /** Of all frames; null: there was none. */
  #runId: string | null = null

  /** Takes notice of a frame that was read as a whole. */
  see(frame: Frame): void {
    this.#runId = frame.run_id
    if (isRepeated(frame)) this.#last.set(frame.type, frame)
  }

  /** The frames of a line; null when it is of another kind. */
  read(line: string, seq: number): readonly Frame[] | null {
    const letter = line.charAt(0)
    switch (letter) {
      case NAMED_EVENT:
      case FORMED_EVENT:
      case FILLED_EVENT:
        return [this.#readEvent(letter, line.slice(1).split('\t'), seq)]
      case FILLED_EVENTS:
        return this.#readEvents(line.slice(1).split('\t'), seq)
      case PLAIN_EVENT:
      case DONE_MARK:
        return [this.#readPlaced(letter, line.slice(1).split('\t'), seq)]
      case STATE:
        return [this.#readState(line.slice(1).split('\t'), seq)]
      default: {
        const repeated = BY_LETTER.get(letter)
        return repeated === undefined ? null : [this.#readText(repeated, line, seq)]
      }
    }
  }

  #readText(repeated: RepeatedType, line: string, seq: number): Frame {
    const [start, sinceMs, form] = LINE.exec(line) ?? []
    const rest = line.slice(start?.length)
    const text = form === AS_JSON ? parseJson(rest) : rest
    if (start === undefined || typeof text !== 'string') throw unfounded()
    return this.#again(repeated.type, seq, msOf(sinceMs), { [repeated.field]: text })
  }

  #readEvent(letter: string, [sinceMs = '', ...cells]: readonly string[], seq: number): Frame {
    if (letter === NAMED_EVENT) {
      const [event_name = '', ...raw] = cells
      return this.#again('provider_event', seq, msOf(sinceMs), { event_name, raw: raw.join('\t') })
    }
    if (letter === FORMED_EVENT) this.#form = parseForm(cells[0], cells[1])
    const form = this.#form
    const fillings = letter === FORMED_EVENT ? cells.slice(2) : cells
    if (form === null || fillings.length !== holesOf(form)) throw unfounded()
    const raw = filled(form, fillings, 0)
    return this.#again('provider_event', seq, msOf(sinceMs), { event_name: form.type, raw })
  }

  #readEvents([sinceMs = '', texts = '', ...fillings]: readonly string[], seq: number): readonly Frame[] {
    const form = this.#form
    const holes = form === null ? 0 : holesOf(form)
    if (form === null || holes === 0 || fillings.length === 0 || fillings.length % holes !== 0)
      throw unfounded()
    const text = parseTexts(texts, holes)
    const frames: Frame[] = []
    for (let from = 0; from < fillings.length; from += holes) {
      const since = from === 0 ? msOf(sinceMs) : 0
      const raw = filled(form, fillings, from)
      const event = this.#again('provider_event', seq + frames.length, since, { event_name: form.type, raw })
      frames.push(event)
      if (text === null) continue
      const sinceText = event.ts - (this.#last.get(text.type)?.ts ?? Number.NaN)
      const delta = meaningOf(fillings[from + text.hole] ?? '')
      frames.push(this.#again(text.type, seq + frames.length, sinceText, { delta }))
    }
    return frames
  }

  #readPlaced(letter: string, cells: readonly string[], seq: number): Frame {
    const [ts = '', turn = '', attempt = '', name, ...raw] = cells
    if (this.#runId === null || ![ts, turn, attempt].every((count) => COUNT.test(count))) throw unfounded()
    if ((letter === DONE_MARK) !== (name === undefined)) throw unfounded()
    const place = [this.#runId, seq, Number(ts), Number(turn), Number(attempt)] as const
    const frame =
      name === undefined ? doneMarkFrame(...place) : plainEventFrame(...place, name, raw.join('\t'))
    this.#last.set(frame.type, frame)
    return frame
  }

  #readState([sinceMs = '', turn = '', by = '', state = '']: readonly string[], seq: number): Frame {
    if (!COUNT.test(turn)) throw unfounded()
    return this.#again('state_entered', seq, msOf(sinceMs), { state, by, turn: Number(turn) })
  }

  /** The last frame of a type with other fields, at its place in the log. */
  #again(type: Frame['type'], seq: number, sinceMs: number, differs: object): Frame {
    const last = this.#last.get(type)
    const ts = (last?.ts ?? Number.NaN) + sinceMs
    if (last === undefined || !(sinceMs >= 0) || !(ts <= Number.MAX_SAFE_INTEGER)) throw unfounded()
    const frame: unknown = { ...last, seq, ts, ...differs }
    if (!isFrame(frame)) throw new TypeError('a frame with another text is a frame')
    this.#last.set(type, frame)
    return frame
  }
}

/** The milliseconds of a line since another; nothing stands for none. */
function msOf(written = ''): number {
  if (!/^\d*$/u.test(written)) throw unfounded()
  return Number(written)
}

function holesOf({ fixed }: EventForm): number {
  return fixed.length - 1
}

/** The text of a form with what stood in its holes. */
function filled({ fixed }: EventForm, fillings: readonly string[], from: number): string {
  let raw = fixed[0] ?? ''
  for (let hole = 1; hole < fixed.length; hole += 1) {
    raw += `${fillings[from + hole - 1] ?? ''}${fixed[hole] ?? ''}`
  }
  return raw
}

interface Texts {
  readonly type: Frame['type']
  readonly hole: number
}

/** What the events of a line have behind them; null: nothing. */
function parseTexts(cell: string, holes: number): Texts | null {
  const [found, letter, hole] = TEXTS.exec(cell) ?? []
  if (found === '') return null
  const repeated = BY_LETTER.get(letter ?? '')
  if (repeated?.field !== 'delta' || !(Number(hole) < holes)) throw unfounded()
  return { type: repeated.type, hole: Number(hole) }
}

/** The text that stood between quotes. */
function meaningOf(written: string): string {
  const value = parseJson(`"${written}"`)
  if (typeof value !== 'string') throw unfounded()
  return value
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
