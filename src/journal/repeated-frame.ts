import { LoopchartError } from '../errors.ts'
import type { Frame } from '../frames/generated/frame.ts'
import { isJsonObject, parseJson } from '../protocol/json.ts'

/** A type of frame that comes by the thousand, each with one text that differs. Its lines begin with the letter. */
interface RepeatedType {
  readonly type: Frame['type']
  readonly letter: string
  readonly field: string
}

const TYPES: readonly RepeatedType[] = [
  { type: 'provider_event', letter: 'p', field: 'raw' },
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

// After the letter: the milliseconds since the last, nothing for none; then the text as it is, or as JSON.
const LINE = /^.(\d*)([\t ])/u
const AS_IT_IS = '\t'
const AS_JSON = ' '

/**
 * Frames that are like the last of their type, apart from number, time and one text. A line of one has what differs and
 * not a dozen fields again, which makes a log a third as long and spares most of the work of writing it.
 */
export class RepeatedFrames {
  readonly #last = new Map<string, Frame>()

  /** Takes notice of a frame that was written or read as a whole. */
  see(frame: Frame): void {
    if (BY_TYPE.has(frame.type)) this.#last.set(frame.type, frame)
  }

  /** The line of a frame that repeats another; null when it does not, or its text is longer than allowed. */
  write(frame: Frame, lengthMax: number): string | null {
    const repeated = BY_TYPE.get(frame.type)
    const last = repeated === undefined ? undefined : this.#last.get(frame.type)
    if (repeated === undefined || last === undefined) return null
    const text = differingText(last, frame, repeated.field)
    const sinceMs = frame.ts - last.ts
    if (text === null || text.length > lengthMax || sinceMs < 0) return null
    this.#last.set(frame.type, frame)
    const start = `${repeated.letter}${sinceMs === 0 ? '' : sinceMs}`
    // Half a surrogate pair cannot be written as UTF-8, and a line must not end within its text.
    return text.isWellFormed() && !text.includes('\n')
      ? `${start}${AS_IT_IS}${text}`
      : `${start}${AS_JSON}${JSON.stringify(text)}`
  }

  /** The frame of a line that `write` gave; null when the line is of another kind. */
  read(line: string, seq: number): Frame | null {
    const repeated = BY_LETTER.get(line.charAt(0))
    if (repeated === undefined) return null
    const last = this.#last.get(repeated.type)
    const [start, sinceMs, form] = LINE.exec(line) ?? []
    const rest = line.slice(start?.length)
    const text = form === AS_JSON ? parseJson(rest) : rest
    if (last === undefined || start === undefined || typeof text !== 'string') {
      throw new LoopchartError('log_corrupt', 'the line repeats a frame that is not there')
    }
    const frame: unknown = { ...last, seq, ts: last.ts + Number(sinceMs), [repeated.field]: text }
    if (!isFrame(frame)) throw new TypeError('a frame with another text is a frame')
    this.#last.set(frame.type, frame)
    return frame
  }
}

/** The text of a frame that is like another but for it; null when more differs. */
function differingText(last: unknown, frame: unknown, field: string): string | null {
  if (!isJsonObject(last) || !isJsonObject(frame)) return null
  const keys = Object.keys(frame)
  const lastKeys = Object.keys(last)
  if (keys.length !== lastKeys.length) return null
  // Counted by hand: an iterator would cost more than all the rest, and there is a frame a token.
  for (let at = 0; at < keys.length; at += 1) {
    const key = keys[at]
    // The same order as well: a log that is exported has the lines that were shown.
    if (key === undefined || key !== lastKeys[at]) return null
    if (key === 'seq' || key === 'ts' || key === field) continue
    const value = frame[key]
    const before = last[key]
    if (value !== before && !(isEmptyList(value) && isEmptyList(before))) return null
  }
  const text = frame[field]
  return typeof text === 'string' && typeof last[field] === 'string' ? text : null
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0
}

function isFrame(value: unknown): value is Frame {
  return isJsonObject(value)
}
