// The lines of frames that are like the last of their type, apart from number, time and a text or two. A line of one has
// what differs and not a dozen fields again, which makes a log a quarter as long and spares most of the work of writing it.
import { LoopchartError } from '../errors.ts'
import type { Frame } from '../frames/generated/frame.ts'

/** A type of frame that comes by the thousand, each with one text that differs. Its lines begin with the letter. */
export interface RepeatedType {
  readonly type: Frame['type']
  readonly letter: string
  readonly field: string
}

export const EVENT: RepeatedType = { type: 'provider_event', letter: 'p', field: 'raw' }

const TYPES: readonly RepeatedType[] = [
  EVENT,
  { type: 'output_text_delta', letter: 't', field: 'delta' },
  { type: 'reasoning_delta', letter: 'r', field: 'delta' },
  { type: 'refusal_delta', letter: 'f', field: 'delta' },
  { type: 'tool_stdout', letter: 'o', field: 'chunk' },
  { type: 'tool_stderr', letter: 'e', field: 'chunk' },
]

export const BY_TYPE: ReadonlyMap<string, RepeatedType> = new Map(
  TYPES.map((repeated) => [repeated.type, repeated]),
)
export const BY_LETTER: ReadonlyMap<string, RepeatedType> = new Map(
  TYPES.map((repeated) => [repeated.letter, repeated]),
)

// Lines with more than one thing that differs: their letter and the milliseconds since the last of the type, nothing for
// none; then one thing behind each tab.
export const NAMED_EVENT = 'n'
export const FORMED_EVENT = 'h'
export const FILLED_EVENT = 'd'
export const STATE = 's'
/** Several events of a form: where each has its text behind it, the letter of that and its hole; then all fillings. */
export const FILLED_EVENTS = 'D'

// Those that need nothing before them: milliseconds of the clock, turn and attempt.
/** An event that there is nothing to say about: its name and its text. */
export const PLAIN_EVENT = 'P'
/** The end of a stream as providers say it. */
export const DONE_MARK = 'Z'

// In lines with one text: behind the milliseconds, and how the text is written.
export const AS_IT_IS = '\t'
export const AS_JSON = ' '

/** A number as it is written in a line. A larger one may be written with an exponent or not be read back exactly. */
export const COUNT = /^\d{1,15}$/u

/** Whether the last frame of a type is remembered. */
export function isRepeated({ type }: Frame): boolean {
  return BY_TYPE.has(type) || type === 'state_entered'
}

export function unfounded(): LoopchartError {
  return new LoopchartError('log_corrupt', 'the line repeats a frame that is not there')
}
